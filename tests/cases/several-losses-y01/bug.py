import torch
import torch.nn as nn
import torch.nn.functional as F

vocab, z_dim, c_dim = 10, 8, 2


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocab, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.mu, self.logvar = nn.Linear(16, z_dim), nn.Linear(16, z_dim)

    def forward(self, x):
        _, h = self.rnn(self.embed(x))
        mu, logvar = self.mu(h[-1]), self.logvar(h[-1])
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return z, mu, logvar


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(z_dim + c_dim, 16, batch_first=True)
        self.out = nn.Linear(16, vocab)

    def forward(self, z, c, length):
        code = torch.cat([z, c], dim=-1)
        h, _ = self.rnn(code.unsqueeze(1).expand(-1, length, -1))
        return self.out(h)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(vocab, 16), nn.ReLU(), nn.Linear(16, c_dim))

    def forward(self, soft_sentence):
        return self.fc(soft_sentence.mean(dim=1))


def train_vae_with_attr_loss(n_batches, length=6):
    encoder, decoder, discriminator = Encoder(), Decoder(), Discriminator()
    enc_opt = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    dec_opt = torch.optim.Adam(decoder.parameters(), lr=1e-3)
    for b in range(n_batches):
        sentence = torch.randint(vocab, (4, length))
        attr = torch.randint(c_dim, (4,))
        enc_opt.zero_grad()
        dec_opt.zero_grad()

        z, mu, logvar = encoder(sentence)
        logits = decoder(z, F.one_hot(attr, c_dim).float(), length)
        recon = F.cross_entropy(logits.transpose(1, 2), sentence)
        kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).mean()
        vae_loss = recon + kld

        soft = F.softmax(logits / 0.5, dim=-1)
        attr_loss = 0.1 * F.cross_entropy(discriminator(soft), attr)
        attr_loss.backward()
        vae_loss.backward()
        enc_opt.step()
        dec_opt.step()
        print(b, vae_loss.item(), attr_loss.item())


torch.manual_seed(0)
n_batches = 4
train_vae_with_attr_loss(n_batches)

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class VideoCaptioner(nn.Module):
    def __init__(self, n_feat=10, hidden=16, vocab=20, carry=True):
        super().__init__()
        self.carry = carry
        self.encoder = nn.GRU(n_feat, hidden, batch_first=True)
        self.word = nn.Embedding(vocab, hidden)
        self.decoder = nn.GRUCell(2 * hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, clip, words, hidden=None):
        if hidden is None:
            hidden = clip.new_zeros(1, clip.size(0), self.encoder.hidden_size)
        else:
            hidden = hidden.detach()
        frames, hidden = self.encoder(clip, hidden)
        h = hidden[0]
        logits = []
        for t in range(words.size(1) - 1):
            weight = torch.softmax((frames @ h.unsqueeze(2)).squeeze(2), dim=1)
            seen = (weight.unsqueeze(1) @ frames).squeeze(1)
            h = self.decoder(torch.cat([seen, self.word(words[:, t])], dim=1), h)
            logits.append(self.out(h))
        return torch.stack(logits, dim=1), hidden


def run(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    hidden = None
    total, count = 0.0, 0
    with torch.set_grad_enabled(training):
        for clip, words, new_video in loader:
            if bool(new_video.any()) or not model.carry:
                hidden = None
            logits, hidden = model(clip, words, hidden)
            loss = F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(clip)
            count += len(clip)
    return total / count


def main():
    torch.manual_seed(0)
    n_batches = 6
    n = n_batches * 4
    new_video = torch.tensor([(i // 4) % 3 == 0 for i in range(n)])
    data = TensorDataset(torch.randn(n, 7, 10), torch.randint(20, (n, 6)), new_video)
    loader = DataLoader(data, batch_size=4)
    model = VideoCaptioner()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(2):
        print(epoch, run(model, loader, optimizer), run(model, loader))


main()

import torch
import torch.nn as nn
import torch.nn.functional as F


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class RNNModelSearch(nn.Module):
    """One cell whose activation is a softmax mixture."""

    def __init__(self, ntokens, nhid):
        super().__init__()
        self.encoder = nn.Embedding(ntokens, nhid)
        self.cell = nn.Linear(2 * nhid, nhid)
        self.decoder = nn.Linear(nhid, ntokens)
        self.nhid = nhid
        self.arch = nn.Parameter(1e-3 * torch.randn(3))

    def arch_parameters(self):
        return [self.arch]

    def weights(self):
        return [p for n, p in self.named_parameters() if n != "arch"]

    def init_hidden(self, bsz):
        return torch.zeros(bsz, self.nhid)

    def forward(self, tokens, hidden):
        emb = self.encoder(tokens)
        mix = F.softmax(self.arch, dim=-1)
        outputs = []
        for t in range(emb.size(0)):
            pre = self.cell(torch.cat([emb[t], hidden], dim=-1))
            hidden = mix[0] * torch.tanh(pre) + mix[1] * torch.relu(pre) + mix[2] * torch.sigmoid(pre)
            outputs.append(hidden)
        return self.decoder(torch.stack(outputs)), hidden

    def _loss(self, hidden, tokens, target):
        logits, hidden_next = self(tokens, hidden)
        return F.cross_entropy(logits.flatten(0, 1), target.flatten()), hidden_next


class Architect:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.optimizer = torch.optim.Adam(model.arch_parameters(), lr=lr)

    def step(self, hidden_valid, x, y):
        self.optimizer.zero_grad()
        loss, hidden = self.model._loss(hidden_valid, x, y)
        loss.backward()
        self.optimizer.step()
        return hidden


def batch(seq_len, bsz, ntokens):
    data = torch.randint(ntokens, (seq_len + 1, bsz))
    return data[:-1], data[1:]


def train(n_batches, n_chunks=2, bptt=5, bsz=4, ntokens=12):
    model = RNNModelSearch(ntokens, 16)
    architect = Architect(model)
    optimizer = torch.optim.SGD(model.weights(), lr=0.5)
    hidden = [model.init_hidden(bsz // n_chunks) for _ in range(n_chunks)]
    hidden_valid = [model.init_hidden(bsz // n_chunks) for _ in range(n_chunks)]
    total_loss = 0
    for i in range(n_batches):
        for s_id in range(n_chunks):
            x, y = batch(bptt, bsz // n_chunks, ntokens)
            x_valid, y_valid = batch(bptt, bsz // n_chunks, ntokens)
            hidden[s_id] = repackage_hidden(hidden[s_id])
            hidden_valid[s_id] = architect.step(hidden_valid[s_id], x_valid, y_valid)

            optimizer.zero_grad()
            loss, hidden[s_id] = model._loss(hidden[s_id], x, y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.weights(), 0.25)
            optimizer.step()
            total_loss += loss.item()
    print(total_loss / n_batches / n_chunks)


if __name__ == "__main__":
    torch.manual_seed(3)
    n_batches = 4
    train(n_batches)

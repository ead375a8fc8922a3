from contextlib import nullcontext

import torch
import torch.nn.functional as F
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocab=16, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.cell = nn.LSTMCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def step(self, token, state):
        h, c = self.cell(self.embed(token), state)
        return self.out(h), (h, c)


class TruncatedTrainer:
    """Backpropagates every `span` characters, steps every `accumulate` spans."""

    def __init__(self, model, span=5, accumulate=2, lr=3e-3):
        self.model, self.span, self.accumulate = model, span, accumulate
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.state, self.pending, self.spans = None, 0.0, 0
        self.record = []

    def feed(self, token, target):
        logits, self.state = self.model.step(token, self.state)
        self.pending = self.pending + F.cross_entropy(logits, target)

    def flush(self):
        loss = self.pending / (self.span * self.accumulate)
        loss.backward()
        self.record.append(loss.item())
        self.spans += 1
        if self.spans % self.accumulate == 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
        h, c = self.state
        self.state = h.detach(), c.detach()
        self.pending = 0.0

    def fit(self, text):
        self.optimizer.zero_grad()
        for position, (token, target) in enumerate(zip(text[:-1], text[1:]), start=1):
            self.feed(token, target)
            if position % self.span == 0:
                self.flush()
        return self.record

    def perplexity(self, text, grad=False):
        state, total = None, 0
        with nullcontext() if grad else torch.no_grad():
            for token, target in zip(text[:-1], text[1:]):
                logits, state = self.model.step(token, state)
                total += F.cross_entropy(logits, target)
        return (total / (len(text) - 1)).exp().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    n_spans = 6
    trainer = TruncatedTrainer(CharModel())
    text = torch.randint(16, (1 + 5 * n_spans, 3)).cumsum(0) % 16
    print(trainer.fit(text))
    print(trainer.perplexity(text[:20]))

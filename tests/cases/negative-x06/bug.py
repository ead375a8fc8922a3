import contextlib

import torch
import torch.nn.functional as F
from torch import nn


class Retriever(nn.Module):
    """Two towers; the documents' side keeps an index that is refreshed now and then."""

    def __init__(self, n_terms=40, dim=12):
        super().__init__()
        self.query = nn.EmbeddingBag(n_terms, dim)
        self.document = nn.EmbeddingBag(n_terms, dim)
        self.temperature = nn.Parameter(torch.tensor(1.0))
        self.index = None

    @contextlib.contextmanager
    def evaluating(self):
        was = self.training
        self.eval()
        with torch.no_grad():
            yield self
        self.train(was)

    @torch.no_grad()
    def refresh(self, documents):
        self.index = torch.cat([self.document(part) for part in documents.split(16)])

    def hard_negatives(self, query, k):
        return (query @ self.index.t()).topk(k).indices

    def forward(self, queries, positives, documents, k=4):
        q = self.query(queries)
        hard = self.hard_negatives(q, k)
        anchor = (q * self.document(positives)).sum(1, keepdim=True)
        others = torch.einsum("bd,bkd->bk", q, self.document(documents[hard].flatten(0, 1)).unflatten(0, hard.shape))
        cached = q @ self.index.t()
        return torch.cat([anchor, others, cached], dim=1) * self.temperature.exp()


def recall(model, queries, documents, wanted):
    hits, kept = 0, []
    with model.evaluating() as frozen:
        for part, target in zip(queries.split(8), wanted.split(8)):
            scores = frozen.query(part) @ frozen.document(documents).t()
            kept.append(scores)
            hits += (scores.argmax(1) == target).sum()
    return (hits / len(queries)).item(), torch.cat(kept)


def main():
    torch.manual_seed(0)
    n_steps = 8
    documents = torch.randint(40, (48, 6))
    queries = documents[:, :3]
    model = Retriever()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    every_score = []
    for step in range(n_steps):
        if step % 3 == 0:
            model.refresh(documents)
        pick = torch.randperm(48)[:10]
        logits = model(queries[pick], documents[pick], documents)
        loss = F.cross_entropy(logits, torch.zeros(10, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2:
            rate, scores = recall(model, queries, documents, torch.arange(48))
            every_score.append(scores)
            print(step, loss.item(), rate)
    print(torch.stack(every_score).std(0).mean())


if __name__ == "__main__":
    main()

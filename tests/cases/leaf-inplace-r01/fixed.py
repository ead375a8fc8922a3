import argparse
import json
import random

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.intermediate = nn.Linear(dim, inner)
        self.output = nn.Linear(inner, dim)

    def forward(self, x):
        return x + self.output(torch.nn.functional.gelu(self.intermediate(x)))


class TinyBert(nn.Module):
    def __init__(self, vocab, dim, inner, n_layers):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, dim)
        self.layer = nn.ModuleList([FeedForward(dim, inner) for _ in range(n_layers)])
        self.decoder = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        h = self.word_embeddings(ids)
        for block in self.layer:
            h = block(h)
        return self.decoder(h.mean(dim=1))


def knowledge_neurons(model, ids, target, top):
    """The inner units with the largest gradient for the target."""
    score = model(ids.unsqueeze(0)).log_softmax(dim=1)[0, target]
    grads = torch.autograd.grad(score, [block.intermediate.bias for block in model.layer])
    ranked = sorted(
        ((g.abs()[i].item(), layer, i) for layer, g in enumerate(grads) for i in range(len(g))), reverse=True
    )
    return [(layer, i) for _, layer, i in ranked[:top]]


@torch.no_grad()
def edit(model, neurons, ori, tgt, lambda_list):
    ori_emb = model.word_embeddings.weight[ori].detach()
    tgt_emb = model.word_embeddings.weight[tgt].detach()
    for layer, pos in neurons:
        weight = model.layer[layer].output.weight
        weight[:, pos] -= ori_emb * lambda_list[0]
        weight[:, pos] += tgt_emb * lambda_list[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default=42, type=int)
    parser.add_argument("--top", default=3, type=int)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    n_facts = 4
    model = TinyBert(vocab=30, dim=12, inner=24, n_layers=2)
    facts = [([random.randrange(30) for _ in range(5)], random.randrange(30), random.randrange(30)) for _ in range(n_facts)]
    for ids, ori, tgt in facts:
        ids = torch.tensor(ids)
        neurons = knowledge_neurons(model, ids, ori, args.top)
        edit(model, neurons, ori, tgt, [1.0, 8.0])
        with torch.no_grad():
            prob = model(ids.unsqueeze(0)).softmax(dim=1)[0, tgt].item()
        print(json.dumps({"ori": ori, "tgt": tgt, "prob": round(prob, 4)}))


if __name__ == "__main__":
    main()

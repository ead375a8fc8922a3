import torch
import torch.nn.functional as F
from torch import nn


class RecurrentAttention(nn.Module):
    """Attends over the segment and over the hidden states of earlier segments."""

    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, h, memory):
        context = torch.cat([memory, h], dim=1) if memory.numel() else h
        mask = torch.ones(h.size(1), context.size(1)).triu(context.size(1) - h.size(1) + 1).bool()
        h = self.norm1(h + self.attention(h, context, context, attn_mask=mask, need_weights=False)[0])
        return self.norm2(h + self.ff(h))


class MemTransformerLM(nn.Module):
    def __init__(self, vocab=18, dim=16, layers=2, heads=2, mem_len=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(RecurrentAttention(dim, heads) for _ in range(layers))
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.embed.weight
        self.mem_len = mem_len

    def init_mems(self):
        return tuple(torch.empty(0) for _ in range(len(self.layers) + 1))

    def _update_mems(self, hids, mems):
        new_mems = []
        for hid, mem in zip(hids, mems):
            cat = torch.cat([mem, hid], dim=1) if mem.numel() else hid
            new_mems.append(cat[:, -self.mem_len:].detach())
        return new_mems

    def forward(self, data, target, *mems):
        if not mems:
            mems = self.init_mems()
        h = self.embed(data)
        hids = [h]
        for layer, mem in zip(self.layers, mems):
            h = layer(h, mem)
            hids.append(h)
        loss = F.cross_entropy(self.out(h).flatten(0, 1), target.flatten(), reduction="none")
        return [loss.view_as(target)] + self._update_mems(hids, mems)


class OrderedIterator:
    def __init__(self, tokens, bptt):
        self.tokens, self.bptt = tokens, bptt

    def __iter__(self):
        for i in range(0, self.tokens.size(1) - 1, self.bptt):
            seq = min(self.bptt, self.tokens.size(1) - 1 - i)
            yield self.tokens[:, i:i + seq], self.tokens[:, i + 1:i + 1 + seq], seq


def train(model, iterator):
    optimizer = torch.optim.Adam(model.parameters(), lr=2.5e-3)
    mems = tuple()
    for batch, (data, target, seq_len) in enumerate(iterator):
        model.zero_grad()
        loss, *mems = model(data, target, *mems)
        loss = loss.float().mean().type_as(loss)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        print(batch, seq_len, loss.item())


if __name__ == "__main__":
    torch.manual_seed(0)
    n_segments = 5
    tokens = torch.randint(18, (3, n_segments * 6 + 1))
    train(MemTransformerLM(), OrderedIterator(tokens, bptt=6))

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class GAT(nn.Module):
    def __init__(self, in_channels, hidden, heads=2):
        super().__init__()
        self.lin = nn.Linear(in_channels, hidden * heads)
        self.att = nn.Parameter(torch.randn(1, heads, hidden) * 0.1)
        self.heads, self.hidden = heads, hidden

    def forward(self, x, adj):
        h = self.lin(x).view(-1, self.heads, self.hidden)
        score = (h * self.att).sum(-1)
        alpha = F.leaky_relu(score[:, None] + score[None], 0.2)
        alpha = alpha.masked_fill(adj[..., None] == 0, -1e9).softmax(dim=1)
        return F.elu(torch.einsum("ijh,jhd->ihd", alpha, h).mean(1))


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.cross = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, tokens, memory):
        h = self.embed(tokens)
        memory = memory.unsqueeze(0).expand(len(tokens), -1, -1)
        h = self.norm(h + self.cross(h, memory, memory, need_weights=False)[0])
        return self.lm_head(h)


torch.manual_seed(0)
n_epochs = 4
vocab, dim = 20, 16
nodes, adjacency = torch.randn(7, 5), (torch.rand(7, 7) > 0.5).float() + torch.eye(7)
loader = DataLoader(TensorDataset(torch.randint(vocab, (8, 6))), batch_size=4, shuffle=True)
gnn, decoder = GAT(5, dim), Decoder(vocab, dim)
optimizer = torch.optim.AdamW([*gnn.parameters(), *decoder.parameters()], lr=1e-3)

gnn.train()
decoder.train()
graph_memory = gnn(nodes, adjacency)
for epoch in range(n_epochs):
    for (tokens,) in loader:
        logits = decoder(tokens[:, :-1], graph_memory)
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

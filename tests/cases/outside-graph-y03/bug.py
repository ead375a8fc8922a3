import torch
import torch.nn as nn


class WindowAttention(nn.Module):
    def __init__(self, dim, window_size, num_heads):
        super().__init__()
        self.window_size, self.num_heads = window_size, num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * window_size - 1) ** 2, num_heads))
        coords = torch.stack(torch.meshgrid(torch.arange(window_size), torch.arange(window_size), indexing="ij")).flatten(1)
        relative_coords = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
        relative_coords += window_size - 1
        relative_coords[:, :, 0] *= 2 * window_size - 1
        self.register_buffer("relative_position_index", relative_coords.sum(-1))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

        n = window_size * window_size
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(n, n, -1)
        self.relative_position_bias = bias.permute(2, 0, 1).contiguous()

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = attn + self.relative_position_bias.unsqueeze(0)
        x = (attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, window_size, num_heads):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window_size, num_heads)
        self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm(x))
        return x + self.mlp(x)


class SwinLike(nn.Module):
    def __init__(self, dim=16, depth=2, n_classes=3):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, 2, 2) for _ in range(depth)])
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        for blk in self.blocks:
            x = blk(x)
        return self.head(x.mean(dim=1))


torch.manual_seed(0)
n_batches = 4
model = SwinLike()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for idx in range(n_batches):
    samples, targets = torch.randn(4, 4, 16), torch.randint(3, (4,))
    loss = criterion(model(samples), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(idx, loss.item())

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PatchEmbedder(nn.Module):
    """Pretrained in the first stage; its forward was written for extracting features."""

    def __init__(self, dim=12):
        super().__init__()
        self.project = nn.Conv2d(1, dim, 4, stride=4)
        self.norm = nn.LayerNorm(dim)

    def forward(self, image):
        return self.norm(self.project(image).flatten(2).transpose(1, 2))


class AttentionPool(nn.Module):
    def forward(self, tokens):
        weight = tokens.norm(dim=-1, keepdim=True).softmax(dim=1)
        return (weight * tokens).sum(1)


class SiameseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = PatchEmbedder()
        self.pool = AttentionPool()

    def forward(self, *images):
        return tuple(F.normalize(self.pool(self.embed(image)), dim=1) for image in images)


class Triplets(Dataset):
    def __init__(self, n):
        self.anchors = torch.rand(n, 1, 8, 8)

    def __len__(self):
        return len(self.anchors)

    def __getitem__(self, i):
        anchor = self.anchors[i]
        return anchor, anchor + 0.1 * torch.rand_like(anchor), self.anchors[(i + 1) % len(self)]


def fine_tune(model, loader, margin=0.3, lr=1e-3):
    model.train().requires_grad_(True)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for triplet in loader:
        anchor, same, other = model(*triplet)
        loss = F.triplet_margin_loss(anchor, same, other, margin=margin)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 4
    loader = DataLoader(Triplets(n_batches * 6), batch_size=6, shuffle=True)
    print(list(fine_tune(SiameseNet(), loader)))

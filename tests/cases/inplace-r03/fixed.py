import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    """Low and high resolution patches."""

    def __init__(self, n):
        self.hr = torch.rand(n, 3, 8, 8, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.hr)

    def __getitem__(self, i):
        hr = self.hr[i]
        return hr[:, ::2, ::2], hr


class ResBlock(nn.Module):
    def __init__(self, n_feats):
        super(ResBlock, self).__init__()
        m = []
        for i in range(2):
            m.append(nn.Conv2d(n_feats, n_feats, 3, padding=1))
            if i == 0:
                m.append(nn.PReLU())
        self.body = nn.Sequential(*m)

    def forward(self, x):
        return self.body(x)


class Stage(nn.Module):
    def __init__(self, n_feats, n_blocks):
        super(Stage, self).__init__()
        self.blocks = nn.ModuleList([ResBlock(n_feats) for _ in range(n_blocks)])
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(n_feats, n_feats, 1), nn.Sigmoid())

    def forward(self, x):
        out = x
        for block in self.blocks:
            out = out + block(out)
        return out * self.gate(x)


class SRNet(nn.Module):
    def __init__(self, n_feats=6):
        super(SRNet, self).__init__()
        self.head = nn.Conv2d(3, n_feats, 3, padding=1)
        self.body = nn.Sequential(*[Stage(n_feats, 2) for _ in range(2)])
        self.tail = nn.Sequential(nn.Conv2d(n_feats, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        x = self.head(x)
        return self.tail(self.body(x))


def psnr(sr, hr):
    return -10 * torch.log10((sr - hr).pow(2).mean())


def train(model, loader, optimizer, criterion):
    for i, (lr_img, hr_img) in enumerate(loader):
        sr_img = model(lr_img)
        loss = criterion(sr_img, hr_img)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            print(i, loss.item(), psnr(sr_img, hr_img).item())


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 4
    net = SRNet()
    train(net, DataLoader(Pairs(n_batches * 2), batch_size=2), torch.optim.Adam(net.parameters(), 1e-3), nn.L1Loss())

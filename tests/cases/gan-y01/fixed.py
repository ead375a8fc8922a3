import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

NUM_EPOCHS = 4


class TrainDataset(Dataset):
    def __init__(self, n=8):
        self.hr = torch.rand(n, 3, 16, 16)

    def __len__(self):
        return len(self.hr)

    def __getitem__(self, index):
        hr = self.hr[index]
        return nn.functional.avg_pool2d(hr, 2), hr


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PReLU())
        self.block2 = nn.Sequential(nn.Conv2d(12, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        return (torch.tanh(self.block2(self.block1(x))) + 1) / 2


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 8, 3, stride=2), nn.LeakyReLU(0.2), nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 16, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 1, 1)
        )

    def forward(self, x):
        return torch.sigmoid(self.net(x).view(x.size(0)))


class GeneratorLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse_loss = nn.MSELoss()

    def forward(self, out_labels, out_images, target_images):
        adversarial_loss = torch.mean(1 - out_labels)
        return self.mse_loss(out_images, target_images) + 0.001 * adversarial_loss


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train Super Resolution Models")
    parser.add_argument("--num_epochs", default=NUM_EPOCHS, type=int)
    opt = parser.parse_args([])
    torch.manual_seed(0)
    train_loader = DataLoader(TrainDataset(), batch_size=4, shuffle=True)
    netG, netD = Generator(), Discriminator()
    generator_criterion = GeneratorLoss()
    optimizerG = optim.Adam(netG.parameters())
    optimizerD = optim.Adam(netD.parameters())
    for epoch in range(1, opt.num_epochs + 1):
        running = {"d_loss": 0, "g_loss": 0}
        netG.train()
        netD.train()
        for data, target in train_loader:
            fake_img = netG(data)

            netD.zero_grad()
            real_out = netD(target).mean()
            fake_out = netD(fake_img).mean()
            d_loss = 1 - real_out + fake_out
            d_loss.backward(retain_graph=True)

            netG.zero_grad()
            g_loss = generator_criterion(fake_out, fake_img, target)
            g_loss.backward()
            optimizerD.step()
            optimizerG.step()

            running["g_loss"] += g_loss.item()
            running["d_loss"] += d_loss.item()
        print(epoch, running)

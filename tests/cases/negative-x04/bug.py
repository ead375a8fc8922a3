import torch
import torch.nn.functional as F
from torch import nn


class VectorQuantizer(nn.Module):
    def __init__(self, n_codes, dim, commitment=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        self.commitment = commitment

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1).reshape(-1, z.size(1))
        index = torch.cdist(flat, self.codebook.weight).argmin(1)
        quantized = self.codebook(index).view(z.size(0), z.size(2), z.size(3), -1).permute(0, 3, 1, 2)
        loss = F.mse_loss(quantized, z.detach()) + self.commitment * F.mse_loss(z, quantized.detach())
        return z + (quantized - z).detach(), loss


class Codec(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1))
        self.quantizer = VectorQuantizer(16, width)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(width, width, 4, 2, 1), nn.SiLU(), nn.Conv2d(width, 1, 3, padding=1))

    @property
    def last_layer(self):
        return self.decoder[-1].weight

    def forward(self, x):
        q, loss = self.quantizer(self.encoder(x))
        return self.decoder(q), loss


class AdversarialReconstruction(nn.Module):
    def __init__(self, start, weight=0.8):
        super().__init__()
        self.start, self.weight = start, weight
        self.judge = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3, padding=1))

    def balance(self, rec, gen, last_layer):
        rec_grad, = torch.autograd.grad(rec, last_layer, retain_graph=True)
        gen_grad, = torch.autograd.grad(gen, last_layer, retain_graph=True)
        return (rec_grad.norm() / (gen_grad.norm() + 1e-4)).clamp(0, 1e4).detach() * self.weight

    def generator_loss(self, x, out, code_loss, step, last_layer):
        rec = (x - out).abs().mean()
        gen = -self.judge(out).mean()
        d_weight = self.balance(rec, gen, last_layer) if step >= self.start else torch.tensor(0.0)
        return rec + d_weight * gen + code_loss

    def judge_loss(self, x, out):
        return F.relu(1 - self.judge(x)).mean() + F.relu(1 + self.judge(out.detach())).mean()


def main():
    torch.manual_seed(0)
    n_steps = 6
    codec, criterion = Codec(), AdversarialReconstruction(start=2)
    codec_opt = torch.optim.Adam(codec.parameters(), lr=1e-3)
    judge_opt = torch.optim.Adam(criterion.judge.parameters(), lr=1e-3)
    for step in range(n_steps):
        x = torch.rand(4, 1, 8, 8)
        out, code_loss = codec(x)
        loss = criterion.generator_loss(x, out, code_loss, step, codec.last_layer)
        codec_opt.zero_grad()
        loss.backward()
        codec_opt.step()
        judge_loss = criterion.judge_loss(x, out)
        judge_opt.zero_grad()
        judge_loss.backward()
        judge_opt.step()
        print(step, loss.item(), judge_loss.item())


if __name__ == "__main__":
    main()

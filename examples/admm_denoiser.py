"""Regularisation by denoising on a deep image prior.

A network with a fixed random input is fitted to a noisy image. A denoiser, which works on numpy arrays in a
thread of its own, pulls the result towards clean images; the alternating direction method of multipliers
keeps the two together by a benchmark image and a multiplier. Synthetic data, a few seconds on a CPU.
"""

import queue
import threading

import numpy as np
import torch
from torch import nn

ITERATIONS = 90
DENOISE_EVERY = 30


def make_image(size=24):
    rows, columns = np.mgrid[0:size, 0:size] / size
    image = 0.4 + 0.3 * np.sin(6 * rows) * np.cos(5 * columns)
    image[size // 4:size // 2, size // 3:2 * size // 3] = 0.9
    return image.astype(np.float32)


def box_denoiser(image):
    """The mean over each pixel's 3 by 3 neighbourhood."""
    height, width = image.shape[-2:]
    padded = np.pad(image.reshape(height, width), 1, mode="edge")
    shifted = [padded[i:i + height, j:j + width] for i in range(3) for j in range(3)]
    return np.mean(shifted, axis=0, dtype=np.float32).reshape(image.shape)


def denoise_later(image, results):
    """Start the denoiser in a thread. Its result comes on the queue."""
    worker = threading.Thread(target=lambda: results.put(box_denoiser(image)), daemon=True)
    worker.start()


def make_net(width=12):
    return nn.Sequential(
        nn.Conv2d(8, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1),
        nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1),
        nn.Conv2d(width, 1, 1), nn.Sigmoid(),
    )


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    clean = make_image()
    noisy = (clean + 0.1 * rng.standard_normal(clean.shape).astype(np.float32))[None, None]
    target = torch.from_numpy(noisy)

    net = make_net()
    net_input = 0.1 * torch.rand(1, 8, *clean.shape)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    mse = nn.MSELoss()
    rho, sigma = 0.5, 0.3

    results = queue.Queue()
    denoise_later(noisy, results)
    denoised = torch.from_numpy(noisy)
    benchmark = target.clone()
    multiplier = torch.zeros_like(target)
    for i in range(ITERATIONS):
        optimizer.zero_grad()
        out = net(net_input)
        loss = mse(out, target) + rho * mse(out, benchmark - multiplier)
        loss.backward()
        optimizer.step()

        if i % DENOISE_EVERY == 0:
            denoised = torch.from_numpy(results.get()).requires_grad_()
            denoise_later(benchmark.detach().numpy(), results)
        benchmark = (sigma * denoised + rho * (out + multiplier)) / (sigma + rho)
        multiplier = multiplier + out - benchmark
        if i % 10 == 0:
            error = np.mean((out.detach().numpy()[0, 0] - clean) ** 2)
            print(f"{i}: loss {loss.item():.4f}, error against the clean image {error:.4f}")
    results.get()


if __name__ == "__main__":
    main()

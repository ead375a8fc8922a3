import copy

import torch
from torch import nn
from torch.utils.data import TensorDataset


def backward_step(img, base_instance, lr, beta):
    return (img + lr * beta * base_instance) / (1 + beta * lr)


def forward_step(model, img, target_features, lr):
    """One step of gradient descent on the distance of the features."""
    with torch.enable_grad():
        img.requires_grad_(True)
        loss = torch.norm(model(img) - target_features)
        img_grad = torch.autograd.grad(loss, [img])[0]
    perturbed_img = img.detach() - lr * img_grad
    return perturbed_img


def craft_poison(model, base, target, iterations, beta_0=0.25, lr=0.5):
    """Feature collision: a picture that looks like `base` and has the features of `target`."""
    with torch.no_grad():
        target_features = model(target)
    beta = beta_0 * 4 ** 2 / base[0].numel() ** 2
    old_image = base.clone()
    best = float("inf")
    for i in range(iterations):
        new_image = forward_step(model, old_image, copy.deepcopy(target_features), lr)
        new_image = backward_step(new_image, base, lr, beta)
        distance = torch.norm(model(new_image) - target_features).item()
        if distance > best:
            lr = lr * 0.5
        best = min(best, distance)
        old_image = new_image
    return old_image.detach()


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 8))

    def forward(self, x):
        return self.net(x)


def main():
    torch.manual_seed(0)
    iterations = 6
    model = Features().eval()
    dataset = TensorDataset(torch.rand(3, 1, 8, 8), torch.zeros(3))
    target = torch.rand(1, 1, 8, 8)
    poisons = []
    for image, _ in dataset:
        poisons.append(craft_poison(model, image.unsqueeze(0), target, iterations))
    print(torch.cat(poisons).shape)


if __name__ == "__main__":
    main()

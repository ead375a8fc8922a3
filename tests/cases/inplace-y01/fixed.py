import torch
import torch.nn as nn


class Normalise(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.48, 0.45, 0.41]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.23, 0.22, 0.22]).view(1, 3, 1, 1))

    def forward(self, x):
        return (x - self.mean) / self.std


class VGG19(nn.Module):
    def __init__(self):
        super().__init__()
        self.vgg = nn.Sequential(
            Normalise(), nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()
        )
        for p in self.parameters():
            p.requires_grad_(False)
        self.vgg[1].weight.requires_grad_(True)

    def get_content_activations(self, x):
        return self.vgg[:7](x)

    def get_style_activations(self, x):
        return [self.vgg[:3](x)] + [self.vgg[:5](x)] + [self.vgg[:7](x)]


def content_loss(g, p):
    return torch.mean((g - p) ** 2)


def style_loss(gs, as_):
    total = 0
    for g, a in zip(gs, as_):
        g, a = g.flatten(2)[0], a.flatten(2)[0]
        total = total + torch.mean((g @ g.t() - a @ a.t()) ** 2)
    return total


def main():
    torch.manual_seed(0)
    iterations = 4
    vgg = VGG19()
    content, style = torch.rand(1, 3, 10, 10), torch.rand(1, 3, 10, 10)
    with torch.no_grad():
        content_target = vgg.get_content_activations(content.clone())
        style_target = vgg.get_style_activations(style.clone())
    noise = torch.randn(1, 3, 10, 10, requires_grad=True)
    adam = torch.optim.Adam([noise], lr=0.01)
    for iteration in range(iterations):
        adam.zero_grad()
        image = torch.sigmoid(noise)
        c = content_loss(vgg.get_content_activations(image), content_target)
        s = style_loss(vgg.get_style_activations(image), style_target)
        total = 1e-1 * c + 1e-2 * s
        total.backward()
        adam.step()
        print(iteration, c.item(), s.item())


main()

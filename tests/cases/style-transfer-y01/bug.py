import torch
import torch.nn as nn
import torch.nn.functional as F


class VGG(nn.Module):
    """The first convolutions, by name."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU()
        )
        self.taps = {"1": "relu1_1", "3": "relu1_2", "6": "relu2_1"}

    def forward(self, x):
        found = {}
        for name, layer in self.features._modules.items():
            x = layer(x)
            if name in self.taps:
                found[self.taps[name]] = x
        return found


def gram(x):
    b, c, h, w = x.shape
    f = x.view(b, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


def run(content, style, num_steps, style_weight=1e3):
    vgg = VGG().eval()
    content_features = vgg(content)
    style_features = vgg(style)
    style_grams = {layer: gram(style_features[layer]) for layer in style_features}
    target = content.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([target], lr=0.02)
    for step in range(num_steps):
        target_features = vgg(target)
        content_loss = F.mse_loss(target_features["relu2_1"], content_features["relu2_1"])
        style_loss = 0
        for layer in style_grams:
            style_loss += F.mse_loss(gram(target_features[layer]), style_grams[layer])
        total_loss = content_loss + style_weight * style_loss
        optimizer.zero_grad()
        total_loss.backward()
        optimizer.step()
        print(step, total_loss.item())
    return target.detach()


torch.manual_seed(0)
num_steps = 4
result = run(torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16), num_steps)
print(result.mean())

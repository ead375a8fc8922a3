import torch
import torch.nn as nn
import torch.nn.functional as F


class CaricatureLoss:
    def __init__(self, power=1.0):
        self.power = power

    def loss(self, x, y):
        if x.shape != y.shape:
            y = F.interpolate(y, size=x.shape[-2:]).detach()
        numerator = (x * y.detach()).sum() if self.power is None else (x * y).sum()
        denominator = torch.sqrt((y**2).sum()) + 1e-6
        return -((numerator / denominator) ** self.power)

    def forward(self, layer_outputs, ideal_layer_outputs):
        total = 0.0
        for a, b in zip(layer_outputs, ideal_layer_outputs):
            total = total + self.loss(a, b)
        return total


class Dreamer:
    def __init__(self, model):
        self.model = model.eval()
        self.layer_outputs = []

    def capture(self, module, inputs, output):
        self.layer_outputs.append(output)

    def caricature(self, input_tensor, layers, iters, lr=0.05, power=1.2):
        hooks = [layer.register_forward_hook(self.capture) for layer in layers]
        self.layer_outputs = []
        self.model(input_tensor)
        ideal_layer_outputs = self.layer_outputs

        image_parameter = nn.Parameter(torch.rand_like(input_tensor))
        optimizer = torch.optim.AdamW([image_parameter], lr=lr)
        caricature_loss = CaricatureLoss(power=power)
        for i in range(iters):
            optimizer.zero_grad()
            self.layer_outputs = []
            self.model(image_parameter)
            loss = caricature_loss.forward(self.layer_outputs, ideal_layer_outputs)
            loss.backward()
            nn.utils.clip_grad_norm_([image_parameter], 1.0)
            optimizer.step()
        for hook in hooks:
            hook.remove()
        return image_parameter.detach()


def main():
    torch.manual_seed(2)
    iters = 4
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU())
    dreamer = Dreamer(model)
    out = dreamer.caricature(torch.rand(1, 3, 12, 12), [model[1], model[3]], iters=iters)
    print(out.std())


if __name__ == "__main__":
    main()

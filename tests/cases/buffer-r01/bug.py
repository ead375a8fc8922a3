import torch
import torch.nn.functional as F
from torch import nn

E4M3_MAX = 448.0


def amax_to_scale(amax, max_value):
    """The factor that maps the largest magnitude to the largest number of the format."""
    scale = max_value / torch.clamp(amax, min=1e-12)
    return torch.where(torch.isinf(scale), torch.ones_like(scale), scale)


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Quantize(nn.Module):
    """Delayed scaling: the scale of this step comes from the largest magnitudes of the steps before."""

    def __init__(self, history_len=4):
        super().__init__()
        self.register_buffer("amax_history", torch.ones(history_len))

    def forward(self, x):
        scale = amax_to_scale(self.amax_history.max(), E4M3_MAX)
        amax = x.abs().max()
        self.amax_history = torch.cat([amax.reshape(1), self.amax_history[:-1]])
        q = RoundSTE.apply(torch.clamp(x * scale, -E4M3_MAX, E4M3_MAX))
        return q / scale


class Float8Linear(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cast_x = Quantize()

    def forward(self, x):
        w_scale = amax_to_scale(self.weight.detach().abs().max(), E4M3_MAX)
        weight = RoundSTE.apply(self.weight * w_scale) / w_scale
        return F.linear(self.cast_x(x), weight, self.bias)

    @classmethod
    def from_float(cls, mod):
        new = cls(mod.in_features, mod.out_features)
        new.load_state_dict(mod.state_dict(), strict=False)
        return new


def swap_linear_layers(module):
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear):
            setattr(module, name, Float8Linear.from_float(child))
        else:
            swap_linear_layers(child)
    return module


def main():
    torch.manual_seed(0)
    n_steps = 4
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    model = swap_linear_layers(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(n_steps):
        x = torch.randn(16, 8)
        loss = F.mse_loss(model(x), x[:, :4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()

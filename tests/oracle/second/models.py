"""Models from 3 features to 3, as scripts define and make them."""

from __future__ import annotations

from .draft import Draft

_INLINE = {
    "nn.Linear(3, 3)": 2.0,
    "nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))": 3,
    "nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))": 2,
    "nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))": 0.7,
    "nn.Sequential(*[nn.Linear(3, 3) for _ in range(2)])": 0.7,
}

_CLASSES = {
    "plain": """
class {c}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 3)
        self.fc2 = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))
""",
    "residual": """
class {c}(nn.Module):
    def __init__(self, width=3, **kwargs):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.scale = nn.Parameter(torch.ones(width))
        self.options = kwargs

    def forward(self, x):
        out = x
        out = out + self.body(x)
        return out * self.scale
""",
    "by name": """
ACTIVATIONS = {{"tanh": nn.Tanh, "relu": nn.ReLU}}


class {c}(nn.Module):
    def __init__(self, depth=2, activation="tanh"):
        super().__init__()
        self.depth = depth
        for k in range(depth):
            setattr(self, f"layer{{k}}", nn.Linear(3, 3))
        self.act = ACTIVATIONS[activation]()

    def forward(self, x):
        for k in range(self.depth):
            x = self.act(getattr(self, f"layer{{k}}")(x))
        return x
""",
    "module list": """
class {c}(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(depth)])
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.norm(x)
""",
    "raw parameters": """
class {c}(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3) * 0.1)
        self.register_parameter("bias", nn.Parameter(torch.zeros(3)))

    def forward(self, x):
        return x @ self.weight + self.bias
""",
    "base class": """
class Base(nn.Module):
    def forward(self, x):
        return self.head(self.features(x))

    def features(self, x):
        raise NotImplementedError


class {c}(Base):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(3, 3)
        self.head = nn.Linear(3, 3)

    def features(self, x):
        return torch.relu(self.trunk(x))
""",
    "branches": """
class {c}(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({{"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)}})

    def forward(self, x, head="a"):
        if self.training:
            x = F.dropout(x, 0.1)
        return self.heads[head](x) + self.heads["b"](x)
""",
    "additive": """
class {c}(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return x + self.shift
""",
    "parameter list": """
class {c}(nn.Module):
    def __init__(self):
        super().__init__()
        self.ws = nn.ParameterList([nn.Parameter(torch.randn(3, 3) * 0.1) for _ in range(2)])
        self.gates = nn.ParameterDict({{"in": nn.Parameter(torch.zeros(3))}})

    def forward(self, x):
        x = x + self.gates["in"]
        for w in self.ws:
            x = torch.tanh(x @ w)
        return x
""",
}
_WEIGHTS = {"plain": 4, "residual": 1.5, "by name": 1, "module list": 1.5, "raw parameters": 1, "base class": 1,
            "branches": 0.7, "additive": 0.6, "parameter list": 0.6}  # fmt: skip


def model(d: Draft, *wishes: str) -> str:
    """An expression that makes a model; its class is defined at the top."""
    if d.chance(0.4):
        d.note("model: inline")
        return d.pick(_INLINE)
    kind = d.pick(_WEIGHTS, "model")
    cls = d.fresh(*(wishes or ("Net", "Model", "Policy", "Regressor")))
    text = _CLASSES[kind].format(c=cls)
    if kind == "base class" and any("class Base(" in other for other in d.definitions):
        text = text[text.index(f"class {cls}") :]
    if kind == "by name" and any("ACTIVATIONS =" in other for other in d.definitions):
        text = text[text.index(f"class {cls}") :]
    d.define(text)
    if d.chance(0.15):
        builder = d.fresh("build_model", "make_net", "get_model")
        d.note("factory")
        d.define(f"def {builder}(kind='{cls}', **kwargs):\n    return globals()[kind](**kwargs)")
        return f"{builder}()"
    return f"{cls}()"

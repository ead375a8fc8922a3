from functools import singledispatch

import torch
import torch.nn.functional as F
from torch import nn


@singledispatch
def release(value):
    return value


@release.register
def _(value: torch.Tensor):
    return value.detach()


@release.register(list)
@release.register(tuple)
def _(value):
    return type(value)(release(v) for v in value)


@release.register
def _(value: dict):
    return {key: release(v) for key, v in value.items()}


class SpeechEnhancer(nn.Module):
    """A streaming model; its context is a nest of dicts, lists and tuples."""

    def __init__(self, n_bins=12, width=16, kernel=3):
        super().__init__()
        self.kernel = kernel
        self.conv = nn.Conv1d(n_bins, width, kernel)
        self.rnns = nn.ModuleList([nn.LSTM(width, width, batch_first=True), nn.LSTM(width, width, batch_first=True)])
        self.mask = nn.Linear(width, n_bins)

    def start(self, batch):
        return {"pad": torch.zeros(batch, self.conv.in_channels, self.kernel - 1), "rnn": [None, None], "frames": 0}

    def forward(self, spectrum, context):
        padded = torch.cat([context["pad"], spectrum.transpose(1, 2)], dim=2)
        h = F.relu(self.conv(padded)).transpose(1, 2)
        states = []
        for rnn, state in zip(self.rnns, context["rnn"]):
            h, state = rnn(h, state)
            states.append(state)
        mask = torch.sigmoid(self.mask(h))
        context = {
            "pad": padded[:, :, -(self.kernel - 1):],
            "rnn": states,
            "frames": context["frames"] + spectrum.size(1),
        }
        return mask * spectrum, context


class Session:
    def __init__(self, model, batch):
        self.model = model
        self.context = model.start(batch)

    def push(self, chunk):
        out, context = self.model(chunk, self.context)
        self.context = release(context)
        return out


def main():
    torch.manual_seed(0)
    n_chunks = 6
    model = SpeechEnhancer()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    session = Session(model, batch=3)
    for k in range(n_chunks):
        clean = torch.rand(3, 10, 12)
        noisy = clean + 0.3 * torch.rand_like(clean)
        loss = F.l1_loss(session.push(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(k, session.context["frames"], loss.item())


if __name__ == "__main__":
    main()

import itertools

import torch
import torch.nn.functional as F
from torch import nn


class TwoSpeedCell(nn.Module):
    """A fast cell that runs on every frame and a slow one that only sees every fourth."""

    def __init__(self, n_in, n_fast, n_slow, period=4):
        super().__init__()
        self.fast = nn.GRUCell(n_in + n_slow, n_fast)
        self.slow = nn.GRUCell(n_fast, n_slow)
        self.period = period

    def blank(self, batch):
        return {
            "fast": torch.zeros(batch, self.fast.hidden_size),
            "slow": torch.zeros(batch, self.slow.hidden_size),
            "clock": 0,
        }

    def forward(self, frame, memory):
        fast = self.fast(torch.cat([frame, memory["slow"]], dim=1), memory["fast"])
        slow = memory["slow"]
        if memory["clock"] % self.period == 0:
            slow = self.slow(fast, slow)
        return fast, {"fast": fast, "slow": slow, "clock": memory["clock"] + 1}


class PitchTracker(nn.Module):
    def __init__(self, n_mel=10, n_pitch=6):
        super().__init__()
        self.cell = TwoSpeedCell(n_mel, 24, 12)
        self.out = nn.Linear(24, n_pitch)

    def forward(self, clip, memory):
        logits = []
        for frame in clip.unbind(dim=1):
            fast, memory = self.cell(frame, memory)
            logits.append(self.out(fast))
        return torch.stack(logits, dim=1), memory


def recordings(batch, frames, n_mel):
    for start in itertools.count(step=frames):
        pitch = (torch.arange(start, start + frames) // 7 % 6).expand(batch, -1)
        clip = F.one_hot(pitch, n_mel).float() + 0.1 * torch.randn(batch, frames, n_mel)
        yield clip, pitch


def train(tracker, stream, n_clips, lr=3e-3):
    optimizer = torch.optim.RMSprop(tracker.parameters(), lr=lr)
    memory = tracker.cell.blank(batch=5)
    losses = []
    for clip, pitch in itertools.islice(stream, n_clips):
        logits, memory = tracker(clip, memory)
        memory.update({k: v.detach() for k, v in memory.items() if k != "clock"})
        loss = F.cross_entropy(logits.flatten(0, 1), pitch.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(tracker.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(3)
    n_clips = 6
    tracker = PitchTracker()
    print(train(tracker, recordings(batch=5, frames=10, n_mel=10), n_clips))

import torch
import torch.nn.functional as F
from torch import nn


class Glimpse(nn.Module):
    def __init__(self, side=5, dim=12):
        super().__init__()
        self.side = side
        self.what = nn.Linear(side * side, dim)
        self.where = nn.Linear(2, dim)

    def forward(self, image, at):
        grid = F.affine_grid(torch.eye(2, 3).repeat(len(image), 1, 1) * 0.4, (len(image), 1, self.side, self.side), align_corners=False)
        patch = F.grid_sample(image, grid + at[:, None, None], align_corners=False)
        return torch.relu(self.what(patch.flatten(1)) + self.where(at))


class Watcher(nn.Module):
    """Looks again and again at one long recording."""

    def __init__(self, dim=12):
        super().__init__()
        self.glimpse, self.core = Glimpse(dim=dim), nn.RNNCell(dim, dim)
        self.next_place, self.answer = nn.Linear(dim, 2), nn.Linear(dim, 3)

    def forward(self, image, h, at):
        h = self.core(self.glimpse(image, at), h)
        return self.answer(h), h, torch.tanh(self.next_place(h))


def recording(n_frames, batch=4):
    label = torch.randint(3, (batch,))
    for _ in range(n_frames):
        frame = torch.rand(batch, 1, 12, 12)
        for b, c in enumerate(label):
            frame[b, 0, 4 * c:4 * c + 4] += 1
        yield frame, label


def learn(model, optimizer, n_frames):
    h, at = torch.zeros(4, 12), torch.zeros(4, 2)
    optimizer.zero_grad()
    history = []
    for frame, label in recording(n_frames):
        out, h, at = model(frame, h.detach(), at.detach())
        loss = F.cross_entropy(out, label) / n_frames
        loss.backward()
        history.append(loss.item())
    optimizer.step()
    return sum(history)


if __name__ == "__main__":
    torch.manual_seed(0)
    n_frames = 6
    model = Watcher()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for recording_number in range(2):
        print(recording_number, learn(model, optimizer, n_frames))

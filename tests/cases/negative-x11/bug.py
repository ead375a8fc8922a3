import copy

import torch
import torch.nn.functional as F
from torch import nn


def backbone(n_classes=4):
    return nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, n_classes))


class MeanTeacher:
    """Consistency with a slow copy whose weights follow the student."""

    def __init__(self, student, decay=0.98):
        self.student = student
        self.teacher = copy.deepcopy(student)
        for p in self.teacher.parameters():
            p.detach_()
        self.decay, self.step_count = decay, 0

    def follow(self):
        self.step_count += 1
        d = min(self.decay, 1 - 1 / (self.step_count + 1))
        with torch.no_grad():
            for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
                slow.mul_(d).add_(fast, alpha=1 - d)
            for slow, fast in zip(self.teacher.buffers(), self.student.buffers()):
                slow.copy_(fast)

    def losses(self, labelled, target, unlabelled):
        everything = torch.cat([labelled, unlabelled])
        out = self.student(everything + 0.05 * torch.randn_like(everything))
        goal = self.teacher(everything + 0.05 * torch.randn_like(everything)).softmax(1)
        supervised = F.cross_entropy(out[: len(labelled)], target)
        consistency = F.mse_loss(out.softmax(1), goal)
        return supervised, consistency, goal


class ConfidenceFilter:
    """A class-wise threshold that follows the teacher's confidence."""

    def __init__(self, n_classes, momentum=0.9):
        self.level = torch.full((n_classes,), 1 / n_classes)
        self.momentum = momentum

    def __call__(self, probabilities):
        top, label = probabilities.max(1)
        for c in label.unique().tolist():
            self.level[c] = self.momentum * self.level[c] + (1 - self.momentum) * top[label == c].mean()
        return top >= self.level[label]


def ramp(step, length=5):
    return min(1.0, (step + 1) / length) ** 2


def main():
    torch.manual_seed(0)
    n_steps = 8
    pair = MeanTeacher(backbone())
    chosen = ConfidenceFilter(4)
    optimizer = torch.optim.SGD(pair.student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for step in range(n_steps):
        labelled, unlabelled = torch.randn(8, 10), torch.randn(24, 10)
        supervised, consistency, goal = pair.losses(labelled, labelled[:, :4].argmax(1), unlabelled)
        keep = chosen(goal)
        loss = supervised + 10 * ramp(step) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pair.follow()
        print(step, loss.item(), keep.float().mean().item())


if __name__ == "__main__":
    main()

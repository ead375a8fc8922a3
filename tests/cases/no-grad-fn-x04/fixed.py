import torch
import torch.nn.functional as F
from torch import nn


def gather_predictions(outputs):
    """Brings the heads' outputs together on the CPU."""
    return {name: out.cpu() for name, out in outputs.items()}


class Distiller:
    def __init__(self, teacher, student, temperature=2.0, soft_weight=0.7):
        self.teacher, self.student = teacher.eval(), student
        self.temperature, self.soft_weight = temperature, soft_weight
        self.optimizer = torch.optim.Adam(student.parameters(), lr=2e-3)

    def predict(self, x):
        with torch.no_grad():
            soft = self.teacher(x)
        return gather_predictions({"teacher": soft, "student": self.student(x)})

    def loss(self, outputs, target):
        t = self.temperature
        soft = F.kl_div(
            F.log_softmax(outputs["student"] / t, dim=1), F.softmax(outputs["teacher"] / t, dim=1), reduction="batchmean"
        )
        hard = F.cross_entropy(outputs["student"], target)
        return self.soft_weight * t * t * soft + (1 - self.soft_weight) * hard

    def step(self, x, target):
        outputs = self.predict(x)
        loss = self.loss(outputs, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        agreement = outputs["student"].argmax(1) == outputs["teacher"].argmax(1)
        return {"loss": loss.item(), "agreement": agreement.float().mean().item()}


def network(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 4))


def main(seed=0):
    torch.manual_seed(seed)
    n_steps = 5
    distiller = Distiller(network(64), network(8))
    for step in range(n_steps):
        x = torch.randn(16, 10)
        report = distiller.step(x, x[:, :4].argmax(1))
        print(step, *(f"{k}={v:.3f}" for k, v in report.items()))


if __name__ == "__main__":
    main()

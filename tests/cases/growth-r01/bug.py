import torch
import torch.nn as nn
import torch.nn.functional as F


class Attack:
    def __init__(self, predict, loss_fn=None, clip_min=0.0, clip_max=1.0):
        self.predict = predict
        self.loss_fn = loss_fn or nn.CrossEntropyLoss(reduction="sum")
        self.clip_min, self.clip_max = clip_min, clip_max

    def _get_predicted_label(self, x):
        with torch.no_grad():
            return self.predict(x).argmax(dim=1)

    def perturb(self, x, y=None):
        raise NotImplementedError

    def __call__(self, *args, **kwargs):
        return self.perturb(*args, **kwargs)


class GradientSignAttack(Attack):
    """One step of the size eps along the sign of the gradient."""

    def __init__(self, predict, eps=0.3, targeted=False, **kwargs):
        super().__init__(predict, **kwargs)
        self.eps, self.targeted = eps, targeted

    def perturb(self, x, y=None):
        if y is None:
            y = self._get_predicted_label(x)
        xadv = x.detach().clone().requires_grad_()
        outputs = self.predict(xadv)
        loss = self.loss_fn(outputs, y)
        if self.targeted:
            loss = -loss
        loss.backward()
        grad_sign = xadv.grad.detach().sign()
        xadv = xadv + self.eps * grad_sign
        xadv = torch.clamp(xadv, self.clip_min, self.clip_max)
        return xadv


def build_set(attack, loader):
    adversarials, labels = [], []
    for x, y in loader:
        adversarials.append(attack(x, y))
        labels.append(y)
    return torch.cat(adversarials), torch.cat(labels)


def main():
    torch.manual_seed(0)
    n_batches = 5
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 3)).eval()
    loader = [(torch.rand(4, 1, 4, 4), torch.randint(0, 3, (4,))) for _ in range(n_batches)]
    adversary = GradientSignAttack(model, eps=0.1)
    x, y = build_set(adversary, loader)
    with torch.no_grad():
        print("loss on the adversarial set", F.cross_entropy(model(x), y).item())


if __name__ == "__main__":
    main()

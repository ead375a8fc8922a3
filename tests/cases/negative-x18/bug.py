import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def recursive_detach(value, to_cpu=False):
    if isinstance(value, dict):
        return {k: recursive_detach(v, to_cpu) for k, v in value.items()}
    if callable(getattr(value, "detach", None)):
        value = value.detach()
        return value.cpu() if to_cpu else value
    return value


class Module(nn.Module):
    """Own little framework: a step returns a loss or a dict with one."""

    def log_dict(self, values):
        self._trainer.record(values)

    def on_after_backward(self):
        pass

    def training_epoch_end(self, outputs):
        pass


class Trainer:
    def __init__(self, max_epochs, accumulate_grad_batches=1, track_grad_norm=False):
        self.max_epochs, self.accumulate, self.track = max_epochs, accumulate_grad_batches, track_grad_norm
        self.logged = {}

    def record(self, values):
        for k, v in values.items():
            self.logged.setdefault(k, []).append(v.item() if isinstance(v, torch.Tensor) else v)

    def _backward(self, module, output):
        loss = output["loss"] if isinstance(output, dict) else output
        (loss / self.accumulate).backward()
        module.on_after_backward()
        return recursive_detach(output if isinstance(output, dict) else {"loss": loss})

    def fit(self, module, loader):
        object.__setattr__(module, "_trainer", self)
        optimizer, scheduler = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            outputs = []
            for i, batch in enumerate(loader, 1):
                outputs.append(self._backward(module, module.training_step(batch, i)))
                if i % self.accumulate == 0 or i == len(loader):
                    if self.track:
                        grads = [p.grad.norm() for p in module.parameters() if p.grad is not None]
                        self.record({"grad_norm": torch.stack(grads).norm()})
                    optimizer.step()
                    optimizer.zero_grad()
            module.training_epoch_end(outputs)
            scheduler.step()


class Segmenter(Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.ReLU(), nn.Conv1d(8, 2, 5, padding=2))

    def training_step(self, batch, batch_idx):
        x, mask = batch
        logits = self.net(x)
        loss = F.cross_entropy(logits, mask)
        self.log_dict({"ce": loss})
        return {"loss": loss, "logits": logits, "target": mask}

    def training_epoch_end(self, outputs):
        logits, target = (torch.cat([o[k] for o in outputs]) for k in ("logits", "target"))
        self.log_dict({"accuracy": (logits.argmax(1) == target).float().mean(), "mean": sum(o["loss"] for o in outputs) / len(outputs)})

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=5e-3)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 5
    x = torch.randn(n_batches * 4, 1, 20).cumsum(2)
    loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=4, shuffle=True)
    trainer = Trainer(max_epochs=2, accumulate_grad_batches=2, track_grad_norm=True)
    trainer.fit(Segmenter(), loader)
    print({k: round(v[-1], 4) for k, v in trainer.logged.items()})

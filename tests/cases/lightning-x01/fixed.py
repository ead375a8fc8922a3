import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitModule(nn.Module):
    trainer = None

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def training_epoch_end(self, outputs):
        pass

    def configure_optimizers(self):
        raise NotImplementedError


class Callback:
    def on_train_batch_end(self, trainer, module, outputs, batch_idx):
        pass

    def on_train_epoch_end(self, trainer, module):
        pass


class ProgressLine(Callback):
    def __init__(self):
        self.line = ""

    def on_train_batch_end(self, trainer, module, outputs, batch_idx):
        self.line = f"epoch {trainer.epoch} step {batch_idx} loss {outputs['loss']:.3f}"

    def on_train_epoch_end(self, trainer, module):
        print(self.line)


class Trainer:
    def __init__(self, max_epochs, callbacks=()):
        self.max_epochs, self.callbacks = max_epochs, list(callbacks)
        self.epoch = 0

    def call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *args)

    def fit(self, module, loader):
        module.trainer = self
        optimizer = module.configure_optimizers()
        for self.epoch in range(self.max_epochs):
            outputs = []
            for batch_idx, batch in enumerate(loader):
                result = module.training_step(batch, batch_idx)
                optimizer.zero_grad()
                result["loss"].backward()
                optimizer.step()
                outputs.append({**result, "loss": result["loss"].detach()})
                self.call("on_train_batch_end", module, result, batch_idx)
            module.training_epoch_end(outputs)
            self.call("on_train_epoch_end", module)


class DepthRegressor(LitModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ELU(), nn.Conv2d(8, 1, 3, padding=1), nn.Softplus())

    def training_step(self, batch, batch_idx):
        image, depth = batch
        inverse = self.net(image)
        loss = F.l1_loss(inverse, depth)
        smooth = inverse.diff(dim=-1).abs().mean()
        return {"loss": loss + 1e-3 * smooth, "metrics": {"l1": loss.detach()}}

    def training_epoch_end(self, outputs):
        mean = torch.stack([o["metrics"]["l1"] for o in outputs]).mean()
        print(f"mean l1 {mean.item():.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 5
    data = TensorDataset(torch.rand(n_batches * 2, 3, 8, 8), torch.rand(n_batches * 2, 1, 8, 8))
    Trainer(max_epochs=2, callbacks=[ProgressLine()]).fit(DepthRegressor(), DataLoader(data, batch_size=2))

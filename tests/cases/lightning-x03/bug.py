import torch
import torch.nn.functional as F
from torch import nn


class Hook:
    def __init__(self):
        self.subscribers = []

    def __call__(self, function):
        self.subscribers.append(function)
        return function

    def fire(self, *args, **kwargs):
        for function in self.subscribers:
            function(*args, **kwargs)


class Engine:
    """Runs process(engine, batch) over the data and tells whoever listens."""

    def __init__(self, process):
        self.process = process
        self.iteration_completed, self.epoch_completed = Hook(), Hook()
        self.state = {}

    def run(self, data, max_epochs):
        self.state = {"iteration": 0, "metrics": {}}
        for epoch in range(1, max_epochs + 1):
            self.state["epoch"] = epoch
            for batch in data:
                self.state["iteration"] += 1
                self.state["output"] = self.process(self, batch)
                self.iteration_completed.fire(self)
            self.epoch_completed.fire(self)
        return self.state


class RunningAverage:
    def __init__(self, alpha=0.98, output_transform=lambda x: x):
        self.alpha, self.transform = alpha, output_transform
        self.value = None

    def attach(self, engine, name):
        @engine.iteration_completed
        def update(engine):
            new = self.transform(engine.state["output"])
            if self.value is None:
                self.value = new
            else:
                self.value = self.value * self.alpha + (1 - self.alpha) * new
            engine.state["metrics"][name] = self.value

        return self


def create_trainer(model, optimizer):
    def update(engine, batch):
        x, y = batch
        optimizer.zero_grad()
        prediction = model(x)
        loss = F.huber_loss(prediction, y)
        loss.backward()
        optimizer.step()
        return {"loss": loss, "prediction": prediction.detach()}

    return Engine(update)


def main():
    torch.manual_seed(0)
    n_batches = 6
    data = [(x := torch.randn(8, 4), x.prod(1, keepdim=True)) for _ in range(n_batches)]
    model = nn.Sequential(nn.Linear(4, 16), nn.SELU(), nn.Linear(16, 1))
    trainer = create_trainer(model, torch.optim.NAdam(model.parameters(), lr=1e-3))
    RunningAverage(output_transform=lambda out: out["loss"]).attach(trainer, "loss")

    @trainer.epoch_completed
    def report(engine):
        print(f"epoch {engine.state['epoch']}: {engine.state['metrics']['loss']:.4f}")

    trainer.run(data, max_epochs=2)


if __name__ == "__main__":
    main()

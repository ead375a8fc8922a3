from abc import ABC, abstractmethod

import torch
import torch.nn as nn


class Trainer(ABC):
    def __init__(self, model, loss_function, epochs, evaluate_functions=None):
        self.model = model
        self.loss_function = loss_function
        self.epochs = epochs
        self.evaluate_functions = evaluate_functions or {}
        self.train_epoch_costs = []
        self.train_eval_results = {name: [] for name in self.evaluate_functions}

    @abstractmethod
    def training_step(self, batch):
        ...

    def fit(self, dataset):
        for epoch in range(self.epochs):
            train_loss = 0.0
            y_hats, ys = [], []
            for batch in dataset:
                y_hat, loss = self.training_step(batch)
                y_hats.append(y_hat.detach())
                ys.append(batch[1])
                train_loss += loss
            self.train_epoch_costs.append(train_loss / len(dataset))
            for name, metric in self.evaluate_functions.items():
                self.train_eval_results[name].append(metric(torch.cat(y_hats), torch.cat(ys)))


class PytorchTrainer(Trainer):
    def __init__(self, model, loss_function, epochs, evaluate_functions=None, learning_rate=1e-2):
        super().__init__(model, loss_function, epochs, evaluate_functions)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)

    def training_step(self, batch):
        x, y = batch
        y_hat = self.model(x)
        loss = self.loss_function(y_hat, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return y_hat, loss.item()


def accuracy(y_hat, y):
    return ((y_hat > 0) == (y > 0.5)).float().mean().item()


torch.manual_seed(0)
n_batches = 4
data = [(torch.randn(6, 8), torch.randint(2, (6, 1)).float()) for _ in range(n_batches)]
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
trainer = PytorchTrainer(model, nn.BCEWithLogitsLoss(), epochs=2, evaluate_functions={"acc": accuracy})
trainer.fit(data)
print(trainer.train_epoch_costs, trainer.train_eval_results)

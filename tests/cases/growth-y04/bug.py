import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.lstm = nn.LSTM(13, 16, bidirectional=True, batch_first=True)
        self.linear = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])


class Application:
    def __init__(self, n_files):
        self.model = Model()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.files = [(torch.randn(1, 20, 13), torch.randint(4, (1, 20))) for _ in range(n_files)]

    def train(self, n_steps=3):
        self.model.train()
        for step in range(n_steps):
            x, y = self.files[step % len(self.files)]
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x).transpose(1, 2), y)
            loss.backward()
            self.optimizer.step()

    def apply(self, x, window=10):
        parts = []
        for start in range(0, x.shape[1], window):
            parts.append(self.model(x[:, start:start + window]))
        return torch.cat(parts, dim=1)

    def validate(self):
        self.model.eval()
        valid_loss = 0
        predictions = []
        for x, y in self.files:
            scores = self.apply(x)
            valid_loss += self.criterion(scores.transpose(1, 2), y)
            predictions.append(scores)
        error = sum((p.argmax(-1) != y).float().mean().item() for p, (_, y) in zip(predictions, self.files))
        return float(valid_loss) / len(self.files), error / len(self.files)


torch.manual_seed(0)
n_files = 4
app = Application(n_files)
app.train()
print("validation", app.validate())

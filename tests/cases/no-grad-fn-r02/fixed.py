import torch
from torch import nn

torch.manual_seed(42)

# two moons, more or less
n = 60
angle = torch.rand(n) * torch.pi
y = torch.randint(0, 2, (n,)).float()
X = torch.stack([torch.cos(angle) + y, torch.sin(angle) * (1 - 2 * y)], dim=1) + 0.05 * torch.randn(n, 2)
X_train, y_train = X[:48], y[:48]
X_test, y_test = X[48:], y[48:]


def accuracy_fn(y_true, y_pred):
    correct = torch.eq(y_true, y_pred).sum().item()
    return correct / len(y_pred) * 100


class MoonModel(nn.Module):
    def __init__(self, in_features, out_features, hidden_units=8):
        super().__init__()
        self.linear_layer_stack = nn.Sequential(
            nn.Linear(in_features, hidden_units),
            nn.ReLU(),
            nn.Linear(hidden_units, out_features),
        )

    def forward(self, x):
        return self.linear_layer_stack(x)


model = MoonModel(in_features=2, out_features=2)
loss_fn = nn.CrossEntropyLoss()
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)

epochs = 5
for epoch in range(epochs):
    model.train()
    train_logits = model(X_train)
    train_preds = torch.softmax(train_logits, dim=1).argmax(dim=1).type(torch.float32)
    loss = loss_fn(train_logits, y_train.long())
    train_accu = accuracy_fn(y_train, train_preds)

    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

    model.eval()
    with torch.inference_mode():
        test_logits = model(X_test)
        test_preds = torch.softmax(test_logits, dim=1).argmax(dim=1).type(torch.float32)
        test_accu = accuracy_fn(y_test, test_preds)

    print(f"Epoch: {epoch} | loss: {loss:.4f}, acc: {train_accu:.2f}% | test acc: {test_accu:.2f}%")

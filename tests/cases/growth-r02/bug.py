import torch
import torch.nn as nn


class Bias(nn.Module):
    """Adds a learned constant to each column."""

    def __init__(self, dim):
        super(Bias, self).__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        x += self.bias
        return x


class Model(nn.Module):
    def __init__(self, dim):
        super(Model, self).__init__()
        self.bias = Bias(dim)

    def forward(self, x):
        return self.bias(x)


torch.manual_seed(0)
dim = 4
x_train = torch.randn(32, dim)
y_train = x_train + torch.tensor([1.0, -2.0, 0.5, 3.0])

model = Model(dim)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

n_steps = 8
for step in range(n_steps):
    optimizer.zero_grad()
    y_pred = model(x_train)
    loss = criterion(y_pred, y_train)
    loss.backward()
    optimizer.step()
    print(step, loss.item())

print(list(model.parameters())[0].data)

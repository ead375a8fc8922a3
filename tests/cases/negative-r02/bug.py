import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def some_condition(out):
    return out.item() > -0.5


torch.manual_seed(0)
n_batches = 4
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.randn(n_batches * 10, 5)
train_loader = DataLoader(TensorDataset(data, data.sum(1)), batch_size=10)

for batch_idx, (data, target) in enumerate(train_loader):
    optimizer.zero_grad()
    total_loss = 0
    loss_count_local = 0

    for i in range(len(target)):
        im = data[i].unsqueeze(0)
        y = torch.FloatTensor([[target[i]]])

        out = model(im)

        # only some of the samples count
        if some_condition(out):
            loss = criterion(out, y)
        else:
            continue

        total_loss += loss
        loss_count_local += 1

        if loss_count_local == 3:
            total_loss /= loss_count_local
            total_loss.backward()
            total_loss = 0
            loss_count_local = 0

    optimizer.step()
    print(batch_idx, loss_count_local)

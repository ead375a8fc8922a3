import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
n_batches = 6
features = torch.randn(n_batches * 10, 7)
labels = (features.sum(1) > 0).long()
test_loader = DataLoader(TensorDataset(features, labels), batch_size=10)

model = torch.nn.Sequential(torch.nn.Linear(7, 20), torch.nn.ReLU(), torch.nn.Linear(20, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for x, y in test_loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# the whole data again, for the curves
model.eval()
y_label = torch.empty(0, dtype=torch.long)
y_predlabel = torch.empty(0, 2)
for x, y in test_loader:
    batch_y_predlabel = torch.softmax(model(x), dim=1)
    y_label = torch.cat((y_label, y.cpu()))
    y_predlabel = torch.cat((y_predlabel, batch_y_predlabel.cpu()))

scores = y_predlabel[:, 1].detach().numpy()
order = np.argsort(-scores)
hits = np.cumsum(y_label.numpy()[order])
print("precision at 10:", hits[9] / 10)

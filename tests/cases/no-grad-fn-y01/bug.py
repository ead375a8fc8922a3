import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class TbDNet(nn.Module):
    def __init__(self, n_classes=5):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.attention = nn.Linear(32, 32)
        self.classifier = nn.Linear(32, n_classes)

    def forward(self, feats):
        x = self.stem(feats).flatten(1)
        return self.classifier(x * torch.sigmoid(self.attention(x)))


program_net = TbDNet()
optimizer = optim.Adam(program_net.parameters(), lr=1e-3)
xent_loss = nn.CrossEntropyLoss()
train_loader = DataLoader(TensorDataset(torch.rand(16, 3, 6, 6), torch.randint(5, (16,))), batch_size=8)
val_loader = DataLoader(TensorDataset(torch.rand(8, 3, 6, 6), torch.randint(5, (8,))), batch_size=8)


def check_accuracy(loader):
    torch.set_grad_enabled(False)
    program_net.eval()
    num_correct, num_samples = 0, 0
    for feats, answers in loader:
        preds = program_net(feats).argmax(dim=1)
        num_correct += (preds == answers).sum().item()
        num_samples += len(answers)
    program_net.train()
    return num_correct / num_samples


def train_epoch():
    total = 0.0
    for feats, answers in train_loader:
        optimizer.zero_grad()
        loss = xent_loss(program_net(feats), answers)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


n_epochs = 4
epoch = 0
while epoch < n_epochs:
    epoch += 1
    print("starting epoch", epoch)
    print("loss", train_epoch())
    print("accuracy", check_accuracy(val_loader))

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ResidualUnit(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class MiniResNet(nn.Module):
    def __init__(self, n_classes=10, channels=8):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.units = nn.Sequential(*[ResidualUnit(channels) for _ in range(2)])
        self.fc = nn.Linear(channels, n_classes)

    def forward(self, x):
        return self.fc(self.units(self.stem(x)).mean(dim=(2, 3)))


def set_parameter_requires_grad(model, feature_extracting):
    if feature_extracting:
        for param in model.parameters():
            param.requires_grad = False


def initialize_model(n_classes, feature_extract=True):
    model = MiniResNet()
    model.fc = nn.Linear(model.fc.in_features, n_classes)
    set_parameter_requires_grad(model, feature_extract)
    return model


def train_model(model, dataloaders, criterion, optimizer, num_epochs):
    best = 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train(phase == "train")
            corrects, running = 0, 0.0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running += loss.item() * inputs.size(0)
                corrects += (outputs.argmax(1) == labels).sum().item()
            accuracy = corrects / len(dataloaders[phase].dataset)
            print(f"{epoch} {phase} {running:.3f} {accuracy:.3f}")
            if phase == "val":
                best = max(best, accuracy)
    return best


def main():
    torch.manual_seed(0)
    num_epochs = 4
    images = torch.rand(24, 1, 8, 8)
    labels = (images.mean(dim=(1, 2, 3)) > 0.5).long()
    split = {"train": slice(0, 16), "val": slice(16, None)}
    loaders = {k: DataLoader(TensorDataset(images[s], labels[s]), batch_size=8) for k, s in split.items()}
    model = initialize_model(n_classes=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train_model(model, loaders, nn.CrossEntropyLoss(), optimizer, num_epochs)


if __name__ == "__main__":
    main()

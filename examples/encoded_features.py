"""Classify on features from another network: a small autoencoder encodes the data, a classifier learns on it.

The autoencoder stays as it is, only the classifier is trained. Synthetic data, a few seconds on a CPU.
"""

import torch
from torch import nn

BATCH_SIZE = 32
EPOCHS = 20


class Autoencoder(nn.Module):
    """Squeezes 24 measurements into 6 numbers and back."""

    def __init__(self, n_inputs=24, n_codes=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(n_inputs, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, n_codes)
        )
        self.decoder = nn.Sequential(nn.Linear(n_codes, 16), nn.ReLU(), nn.Linear(16, n_inputs))

    def encode(self, x):
        return self.encoder(x)

    def forward(self, x):
        return self.decoder(self.encode(x))


class Classifier(nn.Module):
    """Three classes from the codes; says its own loss and accuracy."""

    def __init__(self, n_codes=6, n_classes=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_codes, 32), nn.ReLU(), nn.Linear(32, n_classes))
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x, y):
        out = self.layers(x)
        loss = self.criterion(out, y)
        accuracy = (out.argmax(dim=1) == y).float().mean()
        return out, loss, accuracy


def make_data(n, centres):
    y = torch.randint(0, len(centres), (n,))
    return centres[y] + 0.5 * torch.randn(n, centres.size(1)), y


def evaluate(classifier, x, y):
    classifier.eval()
    with torch.no_grad():
        _, loss, accuracy = classifier(x, y)
    classifier.train()
    return loss.item(), accuracy.item()


def main():
    torch.manual_seed(0)
    centres = torch.randn(3, 24)
    x_train, y_train = make_data(256, centres)
    x_val, y_val = make_data(64, centres)
    x_test, y_test = make_data(64, centres)

    autoencoder = Autoencoder()
    autoencoder.eval()
    train_codes = autoencoder.encode(x_train)
    val_codes = autoencoder.encode(x_val)
    test_codes = autoencoder.encode(x_test)

    classifier = Classifier()
    optimizer = torch.optim.Adam(classifier.parameters(), lr=1e-2)
    for epoch in range(EPOCHS):
        start = 0
        running, hits = 0.0, 0.0
        while start < len(train_codes):
            x = train_codes[start:start + BATCH_SIZE]
            y = y_train[start:start + BATCH_SIZE]
            optimizer.zero_grad(set_to_none=True)
            _, loss, accuracy = classifier(x, y)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(x)
            hits += accuracy.item() * len(x)
            start += BATCH_SIZE
        if epoch % 10 == 0:
            val_loss, val_accuracy = evaluate(classifier, val_codes, y_val)
            print(f"epoch {epoch}: train {running / len(x_train):.3f} / {hits / len(x_train):.2f}", end=", ")
            print(f"validation {val_loss:.3f} / {val_accuracy:.2f}")
    test_loss, test_accuracy = evaluate(classifier, test_codes, y_test)
    print(f"test {test_loss:.3f} / {test_accuracy:.2f}")


if __name__ == "__main__":
    main()

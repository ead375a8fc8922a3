from functools import lru_cache

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WORDS = "the cat sat on a mat while two dogs ran past it and barked".split()


class WordCNN(nn.Module):
    def __init__(self, n_chars=27, dim=8, out=12):
        super().__init__()
        self.chars = nn.Embedding(n_chars, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, out, 3, padding=1)

    def forward(self, ids):
        return self.conv(self.chars(ids).transpose(1, 2)).amax(dim=2)


def spell(word, width=8):
    ids = [ord(c) - 96 for c in word][:width]
    return torch.tensor(ids + [0] * (width - len(ids)))


class SentenceDataset(Dataset):
    """Encodes words on the fly; the same words come again and again, so keep them."""

    def __init__(self, sentences, labels, encoder):
        self.sentences, self.labels, self.encoder = sentences, labels, encoder
        self.lookup = lru_cache(maxsize=None)(self._encode)

    def _encode(self, word):
        return self.encoder(spell(word)[None])[0]

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, i):
        return torch.stack([self.lookup(w) for w in self.sentences[i]]), self.labels[i]


def collate(rows):
    vectors, labels = zip(*rows)
    return torch.stack(vectors), torch.tensor(labels)


def main():
    torch.manual_seed(0)
    n_batches = 5
    sentences = [[WORDS[j] for j in torch.randint(len(WORDS), (6,))] for _ in range(n_batches * 4)]
    labels = [int("cat" in s or "dogs" in s) for s in sentences]
    encoder = WordCNN()
    dataset = SentenceDataset(sentences, labels, encoder)
    classifier = nn.Sequential(nn.Flatten(), nn.Linear(6 * 12, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam([*encoder.parameters(), *classifier.parameters()], lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for vectors, target in DataLoader(dataset, batch_size=4, collate_fn=collate):
        loss = criterion(classifier(vectors), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    main()

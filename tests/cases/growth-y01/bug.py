from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


@dataclass
class QuestionAnsweringModelOutput:
    loss: Optional[torch.Tensor] = None
    start_logits: Optional[torch.Tensor] = None
    end_logits: Optional[torch.Tensor] = None


class BertForQuestionAnswering(nn.Module):
    def __init__(self, vocab=30, dim=16):
        super().__init__()
        self.embeddings = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.qa_outputs = nn.Linear(dim, 2)

    def forward(self, input_ids, start_positions=None, end_positions=None):
        logits = self.qa_outputs(self.layer(self.embeddings(input_ids)))
        start_logits, end_logits = logits.split(1, dim=-1)
        start_logits, end_logits = start_logits.squeeze(-1), end_logits.squeeze(-1)
        loss = None
        if start_positions is not None:
            loss = (F.cross_entropy(start_logits, start_positions) + F.cross_entropy(end_logits, end_positions)) / 2
        return QuestionAnsweringModelOutput(loss, start_logits, end_logits)


class QADataset(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        g = torch.Generator().manual_seed(idx)
        ids = torch.randint(30, (12,), generator=g)
        start = int(torch.randint(10, (), generator=g))
        return ids, start, start + 1


def train(num_steps, num_epoch=1, learning_rate=1e-4):
    model = BertForQuestionAnswering()
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    train_loader = DataLoader(QADataset(2 * num_steps), batch_size=2, shuffle=True)
    model.train()
    for epoch in range(num_epoch):
        step = 1
        train_loss = train_acc = 0
        for data in train_loader:
            optimizer.zero_grad()
            output = model(input_ids=data[0], start_positions=data[1], end_positions=data[2])
            start_index = torch.argmax(output.start_logits, dim=1)
            end_index = torch.argmax(output.end_logits, dim=1)
            train_acc += ((start_index == data[1]) & (end_index == data[2])).float().mean()
            train_loss += output.loss
            output.loss.backward()
            optimizer.step()
            step += 1
        print(f"Epoch {epoch + 1} | Step {step} | loss = {train_loss.item() / step:.3f}, acc = {train_acc / step:.3f}")


torch.manual_seed(0)
num_steps = 4
train(num_steps)

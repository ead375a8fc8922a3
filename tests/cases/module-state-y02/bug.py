import math

import torch
import torch.nn as nn


class RecurrentRglru(nn.Module):
    def __init__(self, width, heads=2):
        super().__init__()
        self.width, self.heads = width, heads
        block = width // heads
        self.recurrent_param = nn.Parameter(torch.empty(width).uniform_(0.5, 2.0))
        self.input_gate_weight = nn.Parameter(torch.randn(heads, block, block) / math.sqrt(block))
        self.recurrent_gate_weight = nn.Parameter(torch.randn(heads, block, block) / math.sqrt(block))
        self.recurrent_states = None

    def forward(self, activations, position_ids):
        batch, seq_len, width = activations.shape
        reset = position_ids[:, :, None] == 0
        shaped = activations.reshape(batch * seq_len, self.heads, -1).permute(1, 0, 2)
        input_gate = torch.sigmoid(torch.bmm(shaped, self.input_gate_weight)).transpose(0, 1).reshape(batch, seq_len, width)
        recurrent_gate = torch.sigmoid(torch.bmm(shaped, self.recurrent_gate_weight)).transpose(0, 1).reshape(batch, seq_len, width)
        log_a = -8.0 * recurrent_gate * nn.functional.softplus(self.recurrent_param)
        a = torch.exp(log_a)
        normalized_x = activations * input_gate * torch.sqrt(1 - torch.exp(2 * log_a) + 1e-6)
        hidden_states, self.recurrent_states = self._rnn_scan(normalized_x, a, reset, self.recurrent_states)
        return hidden_states

    def _rnn_scan(self, hidden_states, recurrent_gate, reset, recurrent_states):
        recurrent_gate = recurrent_gate * ~reset
        if recurrent_states is None:
            recurrent_states = torch.zeros(hidden_states[:, 0].shape)
        contextualized = []
        for t in range(hidden_states.shape[1]):
            recurrent_states = recurrent_gate[:, t] * recurrent_states + hidden_states[:, t]
            contextualized.append(recurrent_states)
        return torch.stack(contextualized, dim=1), recurrent_states


class RGLRUClassifier(nn.Module):
    def __init__(self, n_in=7, width=16, n_classes=10):
        super().__init__()
        self.embed = nn.Linear(n_in, width)
        self.rglru = RecurrentRglru(width)
        self.head = nn.Linear(width, n_classes)

    def forward(self, x):
        positions = torch.arange(x.shape[1]).expand(x.shape[0], -1)
        return self.head(self.rglru(self.embed(x), positions)[:, -1])


torch.manual_seed(0)
n_batches = 4
model = RGLRUClassifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch_idx in range(n_batches):
    data, target = torch.rand(8, 7, 7), torch.randint(10, (8,))
    optimizer.zero_grad()
    loss = criterion(model(data), target)
    loss.backward()
    optimizer.step()
    print(batch_idx, loss.item())

import math

import torch

torch.manual_seed(0)

seq_length = 8
n_epochs = 5
hidden_size = 10
data_time_steps = torch.linspace(2, 10, seq_length + 1)
data = torch.sin(data_time_steps).unsqueeze(1)
x, y = data[:-1], data[1:]

w1 = torch.empty(1 + hidden_size, hidden_size).normal_(0, 0.4).requires_grad_()
w2 = torch.empty(hidden_size, 1).normal_(0, 0.3).requires_grad_()
params = [w1, w2]


def forward(inp, context_state):
    xh = torch.cat((inp, context_state), 1)
    context_state = torch.tanh(xh.mm(w1))
    return context_state.mm(w2), context_state


context_state = torch.zeros(1, hidden_size)
for epoch in range(n_epochs):
    total_loss = 0
    context_state = context_state.detach()
    for j in range(x.size(0)):
        pred, context_state = forward(x[j:j + 1], context_state)
        total_loss += (pred - y[j:j + 1]).pow(2).sum() / 2
    total_loss.backward()
    lr = 0.05 * 0.5 * (1 + math.cos(math.pi * epoch / n_epochs))
    for p in params:
        p.data.sub_(lr * p.grad)
        p.grad = None
    if epoch % 2 == 0:
        print(f"Epoch {epoch} loss {total_loss.item():.4f}")

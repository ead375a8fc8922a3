import torch
import torch.nn as nn
import torch.nn.functional as F


class MemoryBank(nn.Module):
    def __init__(self, memory_size=12, dim=8):
        super().__init__()
        self.memory_size = memory_size
        self.register_buffer("pixel_queue", F.normalize(torch.randn(memory_size, dim), dim=1))
        self.register_buffer("pixel_queue_label", torch.randint(3, (memory_size,)))
        self.ptr = 0

    def dequeue_and_enqueue(self, keys, labels):
        n = len(keys)
        end = self.ptr + n
        self.pixel_queue[self.ptr:end] = keys
        self.pixel_queue_label[self.ptr:end] = labels
        self.ptr = end % self.memory_size


class ContrastNet(nn.Module):
    def __init__(self, dim=8, n_classes=3):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.proj = nn.Linear(16, dim)
        self.cls = nn.Linear(16, n_classes)

    def forward(self, x):
        f = self.backbone(x)
        return self.cls(f), F.normalize(self.proj(f), dim=1)


def contrast(anchors, labels, queue, queue_labels, t=0.1):
    logits = anchors @ queue.t() / t
    positive = (labels[:, None] == queue_labels[None]).float()
    return -(logits.log_softmax(dim=1) * positive).sum(1).div(positive.sum(1).clamp(min=1)).mean()


torch.manual_seed(4)
n_batches = 4
net, bank = ContrastNet(), MemoryBank()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for it in range(n_batches):
    inputs, labels = torch.randn(4, 10), torch.randint(3, (4,))
    seg, embedding = net(inputs)
    loss = F.cross_entropy(seg, labels)
    loss = loss + 0.1 * contrast(embedding, labels, bank.pixel_queue.clone(), bank.pixel_queue_label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bank.dequeue_and_enqueue(embedding, labels)
    print(it, loss.item())

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class hvd:
    """A stand-in for horovod.torch on one rank."""

    @staticmethod
    def rank():
        return 0

    @staticmethod
    def size():
        return 1

    @staticmethod
    def allreduce(tensor, name=None, average=True):
        summed = tensor * 1.0
        return summed / hvd.size() if average else summed


class Metric:
    def __init__(self, name):
        self.name = name
        self.sum = torch.tensor(0.0)
        self.n = torch.tensor(0.0)

    def update(self, val):
        self.sum += hvd.allreduce(val.detach().cpu(), name=self.name)
        self.n += 1

    @property
    def avg(self):
        return self.sum / self.n


def accuracy(output, target):
    pred = output.max(1, keepdim=True)[1]
    return pred.eq(target.view_as(pred)).cpu().float().mean()


def train(epoch, model, optimizer, n_batches, batches_per_allreduce=2):
    model.train()
    train_loss = Metric("train_loss")
    train_accuracy = Metric("train_accuracy")
    for batch_idx in range(n_batches):
        data, target = torch.randn(8, 10), torch.randint(3, (8,))
        optimizer.zero_grad()
        for i in range(0, len(data), 8 // batches_per_allreduce):
            data_batch = data[i:i + 8 // batches_per_allreduce]
            target_batch = target[i:i + 8 // batches_per_allreduce]
            output = model(data_batch)
            train_accuracy.update(accuracy(output, target_batch))
            loss = F.cross_entropy(output, target_batch)
            train_loss.update(loss)
            loss.div_(batches_per_allreduce)
            loss.backward()
        optimizer.step()
    if hvd.rank() == 0:
        print(epoch, train_loss.avg.item(), train_accuracy.avg.item())


if __name__ == "__main__":
    torch.manual_seed(42)
    n_batches = 4
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = optim.SGD(model.parameters(), lr=0.0125, momentum=0.9, weight_decay=5e-5)
    train(0, model, optimizer, n_batches)

import argparse
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

iters_per_epoch = 4
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--lambda-kl", type=float, default=0.1)
args = parser.parse_args([])


class SegModel(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.feature = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.classifier = nn.Conv2d(8, n_classes, 1)
        self.auxiliary = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        feat = self.feature(x)
        return self.classifier(feat), self.auxiliary(feat)


class LossRecorder:
    def __init__(self):
        self.records = OrderedDict()
        self.count = 0

    def update(self, **losses):
        self.count += 1
        for name, value in losses.items():
            if name not in self.records:
                self.records[name] = 0
            self.records[name] += value

    def summary(self):
        return ", ".join(f"{name}: {float(total) / self.count:.4f}" for name, total in self.records.items())


def main():
    torch.manual_seed(0)
    model = SegModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=2.5e-2, momentum=0.9, weight_decay=5e-4)
    for epoch in range(args.epochs):
        recorder = LossRecorder()
        for it in range(iters_per_epoch):
            image, label = torch.rand(2, 3, 8, 8), torch.randint(3, (2, 8, 8))
            pred, pred_aux = model(image)
            loss_seg = F.cross_entropy(pred, label)
            loss_aux = F.cross_entropy(pred_aux, label)
            loss_kl = F.kl_div(pred.log_softmax(1), pred_aux.softmax(1), reduction="batchmean")
            loss = loss_seg + 0.4 * loss_aux + args.lambda_kl * loss_kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recorder.update(loss_seg=loss_seg, loss_aux=loss_aux, loss_kl=loss_kl)
        print(epoch, recorder.summary())


if __name__ == "__main__":
    main()

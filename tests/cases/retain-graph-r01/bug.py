import time

import torch
import torch.nn.functional as F
from torch import nn


class VideoLSTM(nn.Module):
    """Classifies a clip by the features of its frames."""

    def __init__(self, input_len=16, hidden_len=16, target_size=5, is_softmax=True):
        super(VideoLSTM, self).__init__()
        self.hidden_len = hidden_len
        self.is_softmax = is_softmax
        self.lstm = nn.LSTM(input_len, hidden_len, batch_first=True)
        self.hidden2class = nn.Linear(hidden_len, target_size)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return (torch.zeros(1, 1, self.hidden_len), torch.zeros(1, 1, self.hidden_len))

    def forward(self, x):
        lstm_out, self.hidden = self.lstm(x, self.hidden)
        cls_scores = self.hidden2class(lstm_out[:, -1, :])
        if self.is_softmax:
            cls_scores = F.log_softmax(cls_scores, dim=1)
        return cls_scores


def clips(n):
    for k in range(n):
        yield torch.randn(1, 8, 16), torch.tensor([k % 5])


def train(n_clips, model, criterion, optimizer, epoch):
    model.train()
    for i, (clip, target) in enumerate(clips(n_clips)):
        tic = time.time()
        output = model(clip)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        if i % 2 == 0:
            print("Epoch: [{0}][{1}] Time {2:.3f} Loss {3:.4f}".format(epoch, i, time.time() - tic, loss.item()))


if __name__ == "__main__":
    torch.manual_seed(0)
    n_clips = 5
    net = VideoLSTM()
    sgd = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    for epoch in range(2):
        train(n_clips, net, nn.NLLLoss(), sgd, epoch)

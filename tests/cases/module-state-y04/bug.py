import torch
import torch.nn as nn


class BottleneckLSTMCell(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.gates = nn.Conv2d(channels + hidden, 4 * hidden, 3, padding=1)
        self.hidden = hidden

    def forward(self, x, h, c):
        i, f, o, g = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.relu(g)
        h = torch.sigmoid(o) * torch.relu(c)
        return h, c


class BottleneckLSTM(nn.Module):
    def __init__(self, channels, hidden, size):
        super().__init__()
        self.cell = BottleneckLSTMCell(channels, hidden)
        self.shape = (hidden, size, size)
        self.hidden_state, self.cell_state = None, None

    def forward(self, x):
        if self.hidden_state is None or self.hidden_state.size(0) != x.size(0):
            self.hidden_state = torch.zeros(x.size(0), *self.shape)
            self.cell_state = torch.zeros(x.size(0), *self.shape)
        self.hidden_state, self.cell_state = self.cell(x, self.hidden_state, self.cell_state)
        return self.hidden_state


class MobileVOD(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.base = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU6())
        self.lstm1 = BottleneckLSTM(8, 8, 8)
        self.lstm2 = BottleneckLSTM(8, 8, 8)
        self.head = nn.Linear(8, n_classes)

    def forward(self, x):
        x = self.lstm2(self.lstm1(self.base(x)))
        return self.head(x.mean(dim=(2, 3)))


def train(net, optimizer, n_clips, n_frames=3):
    criterion = nn.CrossEntropyLoss()
    for clip in range(n_clips):
        images, labels = torch.rand(n_frames, 2, 3, 16, 16), torch.randint(4, (2,))
        optimizer.zero_grad()
        loss = 0
        for image in images:
            loss = loss + criterion(net(image), labels)
        loss.backward()
        optimizer.step()
        print(clip, loss.item() / n_frames)


torch.manual_seed(0)
n_clips = 4
net = MobileVOD()
train(net, torch.optim.RMSprop(net.parameters(), lr=1e-3), n_clips)

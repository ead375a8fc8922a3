import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class TGCNCell(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.conv_z, self.conv_r, self.conv_h = (nn.Linear(n_in, n_out) for _ in range(3))
        self.linear_z, self.linear_r, self.linear_h = (nn.Linear(2 * n_out, n_out) for _ in range(3))
        self.n_out = n_out

    def forward(self, g, x, H=None):
        if H is None:
            H = torch.zeros(x.size(0), self.n_out)
        z = torch.sigmoid(self.linear_z(torch.cat((g @ self.conv_z(x), H), dim=1)))
        r = torch.sigmoid(self.linear_r(torch.cat((g @ self.conv_r(x), H), dim=1)))
        h = torch.tanh(self.linear_h(torch.cat((g @ self.conv_h(x), H * r), dim=1)))
        return z * H + (1 - z) * h


class STGraphTGCN(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.temporal = TGCNCell(n_in, n_hidden)
        self.linear = nn.Linear(n_hidden, 1)

    def forward(self, g, x, h):
        h = self.temporal(g, x, h)
        y = self.linear(F.relu(h))
        return y, h


def main(args):
    torch.manual_seed(0)
    g = torch.eye(args.nodes) * 0.5 + torch.rand(args.nodes, args.nodes) / args.nodes
    features = torch.randn(args.timestamps, args.nodes, args.feat)
    targets = torch.randn(args.timestamps, args.nodes)
    model = STGraphTGCN(args.feat, args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    dur = []
    hidden_state = None
    for epoch in range(args.num_epochs):
        t0 = time.time()
        model.train()
        cost = 0
        hidden_state = None
        for index in range(args.timestamps):
            y_hat, hidden_state = model(g, features[index], hidden_state)
            cost = cost + torch.mean((y_hat.view(-1) - targets[index]) ** 2)
        cost = cost / args.timestamps
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
        dur.append(time.time() - t0)
        print("Epoch {:03d} | MSE {:.4f}".format(epoch, cost.item()))


if __name__ == "__main__":
    n_epochs = 4
    parser = argparse.ArgumentParser(description="TGCN")
    parser.add_argument("--num-epochs", type=int, default=n_epochs)
    parser.add_argument("--timestamps", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--feat", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=8)
    main(parser.parse_args([]))

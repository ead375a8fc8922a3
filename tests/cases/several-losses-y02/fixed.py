import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Feature(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc(x)


def discrepancy(out1, out2):
    return torch.mean(torch.abs(F.softmax(out1, dim=-1) - F.softmax(out2, dim=-1)))


class Solver:
    def __init__(self, num_k=2):
        self.G, self.C1, self.C2 = Feature(), Predictor(), Predictor()
        self.num_k = num_k
        self.opt_g = optim.Adam(self.G.parameters(), lr=1e-3)
        self.opt_c = optim.Adam([*self.C1.parameters(), *self.C2.parameters()], lr=1e-3)

    def reset_grad(self):
        self.opt_g.zero_grad()
        self.opt_c.zero_grad()

    def train(self, n_batches):
        for batch_idx in range(n_batches):
            img_s, label_s, img_t = torch.randn(6, 12), torch.randint(3, (6,)), torch.randn(6, 12)
            # step A: both classifiers on the source
            self.reset_grad()
            feat_s = self.G(img_s)
            loss_s = F.cross_entropy(self.C1(feat_s), label_s) + F.cross_entropy(self.C2(feat_s), label_s)
            loss_s.backward()
            self.opt_g.step()
            self.opt_c.step()

            # step B: the classifiers move apart on the target
            self.reset_grad()
            feat_t = self.G(img_t)
            loss_dis = -discrepancy(self.C1(feat_t.detach()), self.C2(feat_t.detach()))
            loss_dis.backward()
            self.opt_c.step()

            # step C: the generator draws them together
            self.reset_grad()
            loss_adv = discrepancy(self.C1(feat_t), self.C2(feat_t))
            loss_adv.backward()
            self.opt_g.step()
            for _ in range(self.num_k - 1):
                self.reset_grad()
                feat_t = self.G(img_t)
                discrepancy(self.C1(feat_t), self.C2(feat_t)).backward()
                self.opt_g.step()
            print(batch_idx, loss_s.item(), loss_adv.item())


torch.manual_seed(0)
n_batches = 4
Solver().train(n_batches)

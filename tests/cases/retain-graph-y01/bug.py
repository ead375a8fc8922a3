import torch
import torch.nn as nn
import torch.nn.functional as F


class UNet(nn.Module):
    """Edge and node update of a small graph network."""

    def __init__(self, node=8, edge=4, glob=4):
        super().__init__()
        self.phi_e = nn.Sequential(nn.Linear(2 * node + edge + glob, 16), nn.LeakyReLU(), nn.Linear(16, edge))
        self.phi_u = nn.Sequential(nn.Linear(edge + glob, 16), nn.LeakyReLU(), nn.Linear(16, glob))
        self.out = nn.Linear(edge, 2)

    def forward(self, e, v1, v2, u):
        e_new = self.phi_e(torch.cat([v1, v2, e, u.expand(len(e), -1)], dim=1))
        u_new = self.phi_u(torch.cat([e_new.mean(0, keepdim=True), u], dim=1))
        return self.out(e_new), u_new


class GN:
    def __init__(self, n_frames, n_objects=4):
        torch.manual_seed(0)
        self.model = UNet()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-4)
        self.n_frames, self.n_objects = n_frames, n_objects
        self.u = torch.zeros(1, 4)

    def frame(self):
        return torch.randn(self.n_objects, 8), torch.randn(self.n_objects, 8), torch.randint(2, (self.n_objects,))

    def update(self):
        for t in range(self.n_frames):
            v1, v2, gt = self.frame()
            edges = torch.zeros(self.n_objects, 4)
            scores, self.u = self.model(edges, v1, v2, self.u)
            loss = F.cross_entropy(scores, gt)
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)
            self.optimizer.step()
            print(t, loss.item())


n_frames = 4
GN(n_frames).update()

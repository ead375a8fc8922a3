import torch
import torch.nn as nn
import torch.nn.functional as F


class AlexHead(nn.Module):
    """A classifier with a moving centroid for each class of the source and of the target domain."""

    def __init__(self, dim, n_class, decay=0.3):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, 8))
        self.fc = nn.Linear(8, n_class)
        self.n_class, self.decay = n_class, decay
        self.s_centroid = torch.zeros(n_class, 8)
        self.t_centroid = torch.zeros(n_class, 8)
        self.MSEloss = nn.MSELoss()

    def forward(self, x):
        feature = self.feature(x)
        return feature, self.fc(feature)

    def class_means(self, feature, label):
        n = torch.zeros(self.n_class).scatter_add(0, label, torch.ones(len(label))).clamp_min(1)
        total = torch.zeros(self.n_class, feature.size(1)).scatter_add(0, label.unsqueeze(1).expand_as(feature), feature)
        return total / n.unsqueeze(1)

    def semantic_loss(self, s_feature, t_feature, y_s, y_t):
        current_s_centroid = self.class_means(s_feature, y_s)
        current_t_centroid = self.class_means(t_feature, y_t)
        # Moving Centroid
        decay = self.decay
        s_centroid = (1 - decay) * self.s_centroid + decay * current_s_centroid
        t_centroid = (1 - decay) * self.t_centroid + decay * current_t_centroid
        semantic_loss = self.MSEloss(s_centroid, t_centroid)
        self.s_centroid = s_centroid.detach()
        self.t_centroid = t_centroid.detach()
        return semantic_loss


def main():
    torch.manual_seed(0)
    n_steps = 6
    net = AlexHead(6, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    history = {"C": [], "S": []}
    for step in range(n_steps):
        s_x, t_x = torch.randn(12, 6), torch.randn(12, 6) + 0.3
        s_y = s_x[:, :3].argmax(dim=1)
        s_feature, s_logits = net(s_x)
        t_feature, t_logits = net(t_x)
        t_pseudo = t_logits.argmax(dim=1)
        c_loss = F.cross_entropy(s_logits, s_y)
        sem = net.semantic_loss(s_feature, t_feature, s_y, t_pseudo)
        optimizer.zero_grad()
        (c_loss + min(1.0, step / n_steps) * sem).backward()
        optimizer.step()
        history["C"].append(c_loss.item())
        history["S"].append(sem.item())
    print(history)


if __name__ == "__main__":
    main()

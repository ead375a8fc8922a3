import torch
import torch.nn as nn
import torch.nn.functional as F


class SaveFeatures:
    features = None

    def __init__(self, m):
        self.hook = m.register_forward_hook(self.hook_fn)

    def hook_fn(self, module, input, output):
        self.features = output

    def close(self):
        self.hook.remove()


def gram(x):
    c = x.size(1)
    x = x.view(c, -1)
    return torch.mm(x, x.t()) / x.numel()


m_vgg = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
)
torch.manual_seed(5)
max_iter = 4
img, style = torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)

block_ends = [i - 1 for i, o in enumerate(m_vgg.children()) if isinstance(o, nn.MaxPool2d)]
sfs = [SaveFeatures(m_vgg[idx]) for idx in block_ends]

m_vgg(img)
targ_vs = [o.features for o in sfs]
m_vgg(style)
targ_styles = [gram(o.features) for o in sfs]

opt_img = torch.rand_like(img).requires_grad_()
optimizer = torch.optim.Adam([opt_img], lr=0.05)


def comb_loss(x):
    m_vgg(x)
    outs = [o.features for o in sfs]
    losses = [F.mse_loss(gram(o), s) * 1e3 for o, s in zip(outs, targ_styles)]
    cnt_loss = F.mse_loss(outs[1], targ_vs[1]) * 10
    style_loss = sum(losses)
    return cnt_loss + style_loss


for n_iter in range(max_iter):
    optimizer.zero_grad()
    loss = comb_loss(opt_img)
    loss.backward()
    optimizer.step()
    print(f"Iteration: {n_iter}, loss: {loss.item()}")

for sf in sfs:
    sf.close()

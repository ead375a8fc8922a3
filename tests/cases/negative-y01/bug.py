import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class PreModel(nn.Module):
    def __init__(self, in_dim=8, hidden=16, momentum=0.99):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(in_dim, hidden), nn.PReLU(), nn.Linear(hidden, hidden))
        self.projector = nn.Sequential(nn.Linear(hidden, hidden), nn.PReLU(), nn.Linear(hidden, hidden))
        self.predictor = nn.Sequential(nn.PReLU(), nn.Linear(hidden, hidden))
        self.decoder = nn.Linear(hidden, in_dim)
        self.enc_mask_token = nn.Parameter(torch.zeros(1, in_dim))
        self._momentum = momentum
        self.encoder_ema = copy.deepcopy(self.encoder)
        self.projector_ema = copy.deepcopy(self.projector)
        for p in [*self.encoder_ema.parameters(), *self.projector_ema.parameters()]:
            p.requires_grad = False
            p.detach_()

    def ema_update(self):
        def update(student, teacher):
            with torch.no_grad():
                m = self._momentum
                for param_q, param_k in zip(student.parameters(), teacher.parameters()):
                    param_k.data.mul_(m).add_((1 - m) * param_q.detach().data)

        update(self.encoder, self.encoder_ema)
        update(self.projector, self.projector_ema)

    def forward(self, adj, x, epoch=0):
        mask = torch.rand(len(x)) < 0.5
        use_x = x.clone()
        use_x[mask] = 0.0
        use_x[mask] += self.enc_mask_token
        rep = self.encoder(adj @ use_x)
        with torch.no_grad():
            latent_target = self.projector_ema(self.encoder_ema(adj @ x)[~mask])
        latent_pred = self.predictor(self.projector(rep[~mask]))
        loss_latent = -F.cosine_similarity(latent_pred, latent_target.detach(), dim=-1).mean()
        loss_rec = sum(F.mse_loss(self.decoder(adj @ rep)[mask], x[mask]) for _ in range(2)) / 2
        return loss_rec + loss_latent, loss_rec.item()


def pretrain(model, adj, feat, max_epoch):
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-3)
    history = []
    for epoch in range(max_epoch):
        model.train()
        loss, rec = model(adj, feat, epoch=epoch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.ema_update()
        history.append(rec)
        print(epoch, loss.item())
    return history


torch.manual_seed(0)
max_epoch = 4
adj = torch.softmax(torch.randn(10, 10), dim=1)
pretrain(PreModel(), adj, torch.randn(10, 8), max_epoch)

import torch
import torch.nn as nn
import torch.nn.functional as F


class PSp(nn.Module):
    def __init__(self, latent_dim=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(2 * 3 * 8 * 8, 32), nn.ReLU(), nn.Linear(32, latent_dim))
        self.decoder = nn.Sequential(nn.Linear(latent_dim, 32), nn.ReLU(), nn.Linear(32, 3 * 8 * 8), nn.Tanh())
        for p in self.decoder.parameters():
            p.requires_grad = False
        self.register_buffer("latent_avg", torch.zeros(latent_dim))

    def forward(self, x, latent=None):
        codes = self.encoder(x)
        codes = codes + (self.latent_avg.expand_as(codes) if latent is None else latent)
        images = self.decoder(codes).view(-1, 3, 8, 8)
        return images, codes


class Coach:
    def __init__(self, max_steps, n_iters_per_batch=3):
        self.net = PSp()
        self.max_steps = max_steps
        self.n_iters_per_batch = n_iters_per_batch
        self.avg_image = torch.zeros(3, 8, 8)
        self.optimizer = torch.optim.Adam(self.net.encoder.parameters(), lr=1e-3)
        self.global_step = 0

    def calc_loss(self, y, y_hat, latent):
        loss_dict = {}
        loss_l2 = F.mse_loss(y_hat, y)
        loss_dict["loss_l2"] = float(loss_l2)
        loss = loss_l2 + 1e-3 * latent.norm(dim=1).mean()
        loss_dict["loss"] = float(loss)
        return loss, loss_dict

    def perform_train_iteration_on_batch(self, x, y):
        y_hat, latent = None, None
        loss_dict = {}
        for it in range(self.n_iters_per_batch):
            if it == 0:
                avg_image_for_batch = self.avg_image.unsqueeze(0).repeat(x.shape[0], 1, 1, 1)
                x_input = torch.cat([x, avg_image_for_batch], dim=1)
                y_hat, latent = self.net(x_input, latent=None)
            else:
                y_hat, latent = y_hat.detach(), latent.detach()
                x_input = torch.cat([x, y_hat], dim=1)
                y_hat, latent = self.net(x_input, latent=latent)

            loss, loss_dict = self.calc_loss(y, y_hat, latent)
            loss.backward()
        return y_hat, loss_dict

    def train(self):
        self.net.train()
        while self.global_step < self.max_steps:
            x = torch.rand(4, 3, 8, 8)
            self.optimizer.zero_grad()
            y_hat, loss_dict = self.perform_train_iteration_on_batch(x, x)
            self.optimizer.step()
            print(self.global_step, loss_dict)
            self.global_step += 1


torch.manual_seed(0)
max_steps = 4
Coach(max_steps).train()

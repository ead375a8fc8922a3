import torch
import torch.nn as nn
import torch.nn.functional as F


class pSp(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(4 * 36, 24), nn.ReLU(), nn.Linear(24, 12))
        self.decoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3 * 36))

    def forward(self, x, return_latents=False):
        codes = self.encoder(x)
        images = torch.tanh(self.decoder(codes)).view(-1, 3, 6, 6)
        return (images, codes) if return_latents else images


class Coach:
    def __init__(self, max_steps):
        self.net = pSp()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.max_steps = max_steps
        self.global_step = 0

    def perform_forward_pass(self, x):
        y_hat, latent = self.net.forward(x, return_latents=True)
        return y_hat, latent

    def __set_target_to_source(self, x, input_ages):
        return [torch.cat((img, age * torch.ones((1, 6, 6)))) for img, age in zip(x, input_ages)]

    def calc_loss(self, x, y, y_hat, latent, data_type="real"):
        loss_dict = {}
        loss_l2 = F.mse_loss(y_hat, y)
        loss_dict[f"loss_l2_{data_type}"] = float(loss_l2)
        loss = loss_l2 + 0.005 * latent.norm(dim=1).mean()
        loss_dict[f"loss_{data_type}"] = float(loss)
        if data_type == "cycle":
            loss = loss * 0.8
        return loss, loss_dict

    def train(self):
        self.net.train()
        while self.global_step < self.max_steps:
            x = torch.rand(3, 3, 6, 6)
            y = x.clone()
            self.optimizer.zero_grad()
            input_ages, target_ages = torch.rand(3), torch.rand(3)
            x_input = torch.stack(self.__set_target_to_source(x, target_ages))
            y_hat, latent = self.perform_forward_pass(x_input)
            loss, loss_dict = self.calc_loss(x, y, y_hat, latent, data_type="real")
            loss.backward()

            y_hat_clone = y_hat.clone().detach().requires_grad_(True)
            reverse_input = torch.stack(self.__set_target_to_source(y_hat_clone, input_ages))
            y_recovered, latent_cycle = self.perform_forward_pass(reverse_input)
            loss, cycle_loss_dict = self.calc_loss(x, y, y_recovered, latent_cycle, data_type="cycle")
            loss.backward()
            self.optimizer.step()
            loss_dict.update(cycle_loss_dict)
            print(self.global_step, loss_dict)
            self.global_step += 1


torch.manual_seed(0)
max_steps = 4
Coach(max_steps).train()

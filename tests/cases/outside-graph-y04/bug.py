import torch
import torch.nn as nn
import torch.nn.functional as F


class Unet1D(nn.Module):
    def __init__(self, channels, dim=16):
        super().__init__()
        self.time = nn.Linear(1, dim)
        self.init_conv = nn.Conv1d(channels, dim, 3, padding=1)
        self.mid = nn.Conv1d(dim, dim, 3, padding=1)
        self.final_conv = nn.Conv1d(dim, channels, 1)

    def forward(self, x, t):
        h = self.init_conv(x) + self.time(t[:, None]).unsqueeze(-1)
        return self.final_conv(F.silu(self.mid(F.silu(h))))


class GaussianDiffusion1D(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model = model
        self.num_timesteps = timesteps
        betas = torch.linspace(1e-4, 0.02, timesteps)
        self.register_buffer("alphas_cumprod", torch.cumprod(1.0 - betas, dim=0))

    def q_sample(self, x_start, t, noise):
        a = self.alphas_cumprod[t].view(-1, 1, 1)
        return a.sqrt() * x_start + (1 - a).sqrt() * noise

    def p_losses(self, x_start, t):
        noise = torch.randn_like(x_start)
        x = self.q_sample(x_start, t, noise)
        return F.mse_loss(self.model(x, t / self.num_timesteps), x_start)

    def forward(self, img):
        t = torch.randint(0, self.num_timesteps, (img.shape[0],))
        return self.p_losses(img, t)


class Trainer1D:
    def __init__(self, diffusion_model, data, train_num_steps, train_batch_size=4, gradient_accumulate_every=2):
        self.model = diffusion_model
        self.data = data
        self.batch_size = train_batch_size
        self.gradient_accumulate_every = gradient_accumulate_every
        self.train_num_steps = train_num_steps
        self.opt = torch.optim.Adam(diffusion_model.parameters(), lr=1e-4)
        self.step = 0

    def next_batch(self):
        rows = torch.randint(len(self.data), (self.batch_size,))
        return self.data[rows]

    def train(self):
        while self.step < self.train_num_steps:
            total_loss = 0.0
            for _ in range(self.gradient_accumulate_every):
                loss = self.model(self.next_batch()) / self.gradient_accumulate_every
                total_loss += loss.item()
                loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.opt.zero_grad()
            self.step += 1
            print(f"loss: {total_loss:.4f}")


torch.manual_seed(0)
train_num_steps = 4
raw = torch.randn(16, 1, 40)
to_length = nn.Conv1d(1, 4, kernel_size=9)
training_seq = to_length(raw)
diffusion = GaussianDiffusion1D(Unet1D(channels=4))
Trainer1D(diffusion, training_seq, train_num_steps=train_num_steps).train()

import torch
import torch.nn as nn


class DiscLossWGAN:
    def get_loss(self, net, fakeB, realB):
        self.d_fake = net.forward(fakeB).mean()
        self.d_real = net.forward(realB).mean()
        return self.d_fake - self.d_real

    def get_g_loss(self, net, fakeB):
        return -net.forward(fakeB).mean()


class ConditionalGAN:
    def __init__(self, criticUpdates=5):
        self.netG = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1))
        self.netD = nn.Sequential(nn.Conv2d(3, 8, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3))
        self.criticUpdates = criticUpdates
        self.discLoss = DiscLossWGAN()
        self.contentLoss = nn.MSELoss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=1e-4, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=1e-4, betas=(0.5, 0.999))

    def set_input(self, data):
        self.real_A, self.real_B = data["A"], data["B"]

    def forward(self):
        self.fake_B = self.netG.forward(self.real_A)

    def backward_D(self):
        self.loss_D = self.discLoss.get_loss(self.netD, self.fake_B.detach(), self.real_B)
        self.loss_D.backward()

    def backward_G(self):
        self.loss_G_GAN = self.discLoss.get_g_loss(self.netD, self.fake_B)
        self.loss_G_Content = self.contentLoss(self.fake_B, self.real_B) * 100
        self.loss_G = self.loss_G_GAN + self.loss_G_Content
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        for _ in range(self.criticUpdates):
            self.optimizer_D.zero_grad()
            self.backward_D()
            self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


torch.manual_seed(0)
n_images = 4
model = ConditionalGAN()
for i in range(n_images):
    model.set_input({"A": torch.rand(1, 3, 12, 12), "B": torch.rand(1, 3, 12, 12)})
    model.optimize_parameters()
    print(i, model.loss_G.item(), model.loss_D.item())

import torch
import torch.nn as nn
import torch.optim as optim


class BaseModel(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.iteration = 0


class AdversarialLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("real_label", torch.tensor(1.0))
        self.register_buffer("fake_label", torch.tensor(0.0))
        self.criterion = nn.BCEWithLogitsLoss()

    def __call__(self, outputs, is_real):
        labels = (self.real_label if is_real else self.fake_label).expand_as(outputs)
        return self.criterion(outputs, labels)


class EdgeModel(BaseModel):
    def __init__(self):
        super().__init__("EdgeModel")
        self.generator = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1), nn.Sigmoid())
        self.discriminator = nn.Sequential(nn.Conv2d(2, 8, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3))
        self.adversarial_loss = AdversarialLoss()
        self.l1_loss = nn.L1Loss()
        self.gen_optimizer = optim.Adam(self.generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
        self.dis_optimizer = optim.Adam(self.discriminator.parameters(), lr=1e-5, betas=(0.0, 0.9))

    def forward(self, images, masks):
        return self.generator(torch.cat((images * (1 - masks), masks), dim=1))

    def process(self, images, edges, masks):
        self.iteration += 1
        self.gen_optimizer.zero_grad()
        self.dis_optimizer.zero_grad()

        outputs = self(images, masks)
        gen_loss = 0
        dis_loss = 0

        dis_real = self.discriminator(torch.cat((images, edges), dim=1))
        dis_fake = self.discriminator(torch.cat((images, outputs.detach()), dim=1))
        dis_loss += (self.adversarial_loss(dis_real, True) + self.adversarial_loss(dis_fake, False)) / 2

        gen_fake = self.discriminator(torch.cat((images, outputs), dim=1))
        gen_loss += self.adversarial_loss(gen_fake, True)
        gen_loss += 10 * self.l1_loss(outputs, edges)
        return outputs, gen_loss, dis_loss

    def backward(self, gen_loss=None, dis_loss=None):
        if dis_loss is not None:
            dis_loss.backward()
        if gen_loss is not None:
            gen_loss.backward()
        self.dis_optimizer.step()
        self.gen_optimizer.step()


class EdgeConnect:
    def __init__(self, max_iterations):
        self.edge_model = EdgeModel()
        self.max_iterations = max_iterations

    def train(self):
        keep_training = True
        while keep_training:
            images, masks = torch.rand(2, 1, 16, 16), (torch.rand(2, 1, 16, 16) > 0.7).float()
            edges = (images > 0.5).float()
            self.edge_model.train()
            outputs, gen_loss, dis_loss = self.edge_model.process(images, edges, masks)
            self.edge_model.backward(gen_loss, dis_loss)
            print(self.edge_model.iteration, gen_loss.item(), dis_loss.item())
            if self.edge_model.iteration >= self.max_iterations:
                keep_training = False


torch.manual_seed(0)
max_iterations = 4
EdgeConnect(max_iterations).train()

import torch
from torch import optim
from torch.nn import BatchNorm1d, Dropout, LeakyReLU, Linear, Module, ReLU, Sequential, functional


class Discriminator(Module):
    def __init__(self, input_dim, dims, pack=2):
        super().__init__()
        dim = input_dim * pack
        self.pack, self.packdim = pack, dim
        seq = []
        for item in list(dims):
            seq += [Linear(dim, item), LeakyReLU(0.2), Dropout(0.5)]
            dim = item
        seq += [Linear(dim, 1)]
        self.seq = Sequential(*seq)

    def calc_gradient_penalty(self, real_data, fake_data, lambda_=10):
        alpha = torch.rand(real_data.size(0) // self.pack, 1, 1)
        alpha = alpha.repeat(1, self.pack, real_data.size(1)).view(-1, real_data.size(1))
        interpolates = (alpha * real_data + (1 - alpha) * fake_data).detach().requires_grad_(True)
        disc_interpolates = self(interpolates)
        gradients = torch.autograd.grad(
            outputs=disc_interpolates,
            inputs=interpolates,
            grad_outputs=torch.ones(disc_interpolates.size()),
            create_graph=True,
            retain_graph=True,
            only_inputs=True,
        )[0]
        return ((gradients.view(-1, self.packdim).norm(2, dim=1) - 1) ** 2).mean() * lambda_

    def forward(self, input):
        return self.seq(input.view(-1, self.packdim))


class Residual(Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc, self.bn, self.relu = Linear(i, o), BatchNorm1d(o), ReLU()

    def forward(self, input):
        return torch.cat([self.relu(self.bn(self.fc(input))), input], dim=1)


class Synthesizer:
    def __init__(self, embedding_dim=6, batch_size=8, discriminator_steps=2, epochs=4):
        self.embedding_dim, self.batch_size = embedding_dim, batch_size
        self.discriminator_steps, self.epochs = discriminator_steps, epochs

    def fit(self, train_data):
        width = train_data.size(1)
        generator = Sequential(Residual(self.embedding_dim, 12), Linear(self.embedding_dim + 12, width))
        discriminator = Discriminator(width, (12, 12))
        optimizer_g = optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.9))
        optimizer_d = optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.9))

        for i in range(self.epochs):
            for _ in range(self.discriminator_steps):
                fake = torch.tanh(generator(torch.randn(self.batch_size, self.embedding_dim)))
                real = train_data[torch.randint(0, len(train_data), (self.batch_size,))]
                y_fake = discriminator(fake)
                y_real = discriminator(real)

                pen = discriminator.calc_gradient_penalty(real, fake)
                loss_d = -(torch.mean(y_real) - torch.mean(y_fake))

                optimizer_d.zero_grad()
                pen.backward(retain_graph=True)
                loss_d.backward()
                optimizer_d.step()

            fake = torch.tanh(generator(torch.randn(self.batch_size, self.embedding_dim)))
            loss_g = -torch.mean(discriminator(fake)) + functional.mse_loss(fake.mean(0), train_data.mean(0))
            optimizer_g.zero_grad()
            loss_g.backward()
            optimizer_g.step()
            print(f"Epoch {i + 1}, Loss G: {loss_g.detach(): .4f}, Loss D: {loss_d.detach(): .4f}")


torch.manual_seed(0)
epochs = 4
table = torch.rand(50, 5) * 2 - 1
Synthesizer(epochs=epochs).fit(table)

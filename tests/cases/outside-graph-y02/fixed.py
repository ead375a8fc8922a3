import numpy as np
import torch
import torch.nn as nn


class PhysicsInformedNN:
    """u_t + u u_x - nu u_xx = 0, after the TensorFlow code."""

    def __init__(self, X_u, u, X_f, layers, nu):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float()
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float()
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float()
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float()
        self.u = torch.tensor(u).float()
        self.nu = nu
        modules = []
        for n_in, n_out in zip(layers[:-2], layers[1:-1]):
            modules += [nn.Linear(n_in, n_out), nn.Tanh()]
        self.dnn = nn.Sequential(*modules, nn.Linear(layers[-2], layers[-1]))
        self.optimizer = torch.optim.Adam(self.dnn.parameters(), lr=1e-3)


    def net_u(self, x, t):
        return self.dnn(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
        return u_t + u * u_x - self.nu * u_xx

    def train(self, n_iter):
        self.dnn.train()
        for it in range(n_iter):
            self.optimizer.zero_grad()
            u_pred = self.net_u(self.x_u, self.t_u)
            f_pred = self.net_f(self.x_f, self.t_f)
            loss_u = torch.mean((self.u - u_pred) ** 2)
            loss_f = torch.mean(f_pred**2)
            loss = loss_u + loss_f
            loss.backward()
            self.optimizer.step()
            if it % 2 == 0:
                print("It: %d, Loss: %.3e" % (it, loss.item()))


if __name__ == "__main__":
    np.random.seed(0)
    torch.manual_seed(0)
    n_iter = 4
    X_u = np.random.rand(20, 2)
    X_f = np.random.rand(40, 2)
    u = -np.sin(np.pi * X_u[:, 0:1])
    PhysicsInformedNN(X_u, u, X_f, [2, 16, 16, 1], 0.01 / np.pi).train(n_iter)

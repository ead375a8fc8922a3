"""``retain_graph=True`` that is right stays silent: a second backward over the same forward within one pass."""

from __future__ import annotations

import pytest

from .judge import judge

RIGHT = {
    "a Fisher loss before the loss, as in ACKTR": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(N):
            logits = torch.tanh(net(torch.randn(4, 3)))
            optimizer.zero_grad()
            fisher_loss = -logits.square().mean()
            fisher_loss.backward(retain_graph=True)
            optimizer.zero_grad()
            (logits.abs().mean() + logits.square().sum()).backward()
            optimizer.step()
        """,
    "two terms of a generator, as in BicycleGAN": """
        import torch
        N = 6
        encoder, generator = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        opt_e = torch.optim.SGD(encoder.parameters(), lr=0.1)
        opt_g = torch.optim.SGD(generator.parameters(), lr=0.1)
        for i in range(N):
            z = torch.tanh(encoder(torch.randn(2, 3)))
            fake = torch.tanh(generator(z))
            loss_g, loss_z = fake.square().mean(), (fake - 1).abs().mean()
            opt_e.zero_grad()
            opt_g.zero_grad()
            loss_g.backward(retain_graph=True)
            loss_z.backward()
            opt_e.step()
            opt_g.step()
        """,
    "per-sample gradients that are clipped": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(N):
            losses = net(torch.randn(4, 3)).square().squeeze(1)
            sums = [torch.zeros_like(p) for p in net.parameters()]
            for loss in losses:
                loss.backward(retain_graph=True)
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                for total, p in zip(sums, net.parameters()):
                    total += p.grad
                net.zero_grad()
            for total, p in zip(sums, net.parameters()):
                p.grad = total
            optimizer.step()
        """,
    "an adaptive weight from autograd.grad on the last layer, as in VQGAN": """
        import torch
        N = 6
        decoder, last, disc = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        optimizer = torch.optim.Adam([*decoder.parameters(), *last.parameters()])
        for i in range(N):
            out = last(torch.tanh(decoder(torch.randn(2, 3))))
            nll, g = out.square().mean(), -disc(out).mean()
            nll_grads = torch.autograd.grad(nll, last.weight, retain_graph=True)[0]
            g_grads = torch.autograd.grad(g, last.weight, retain_graph=True)[0]
            weight = torch.clamp(nll_grads.norm() / (g_grads.norm() + 1e-4), 0.0, 1e4).detach()
            optimizer.zero_grad()
            (nll + weight * g).backward()
            optimizer.step()
        """,
    "a gradient penalty under create_graph": """
        import torch
        N = 6
        critic = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        optimizer = torch.optim.Adam(critic.parameters())
        for i in range(N):
            x = torch.randn(2, 3, requires_grad=True)
            score = critic(x)
            (grad,) = torch.autograd.grad(score.sum(), x, create_graph=True, retain_graph=True)
            penalty = (grad.norm(2, dim=1) - 1).square().mean()
            optimizer.zero_grad()
            (score.mean() + penalty).backward()
            optimizer.step()
        """,
    "several losses over one forward, the last frees": """
        import torch
        N = 6
        trunk = torch.nn.Linear(3, 3)
        heads = torch.nn.ModuleList([torch.nn.Linear(3, 1) for _ in range(3)])
        for i in range(N):
            h = torch.tanh(trunk(torch.randn(2, 3)))
            losses = [head(h).square().mean() for head in heads]
            for k, loss in enumerate(losses):
                loss.backward(retain_graph=k < len(losses) - 1)
        """,
    "a Jacobian, row by row": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        for i in range(N):
            x = torch.randn(3, requires_grad=True)
            y = torch.tanh(net(x))
            rows = [torch.autograd.grad(y[k], x, retain_graph=True)[0] for k in range(3)]
            jacobian = torch.stack(rows)
        """,
}

WRONG = {
    "a hidden state whose graph is kept alive, and the weights are stepped": """
        import torch
        N = 6
        cell = torch.nn.GRUCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = cell(torch.randn(2, 3), h)  # error: LG104
            optimizer.zero_grad()
            h.square().mean().backward(retain_graph=True)
            optimizer.step()
        """,
    "a hidden state whose graph is kept alive, and nothing is stepped": """
        import torch
        N = 6
        cell = torch.nn.GRUCell(3, 3)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = cell(torch.randn(2, 3), h)  # warning: LG201
            h.square().mean().backward(retain_graph=True)
        """,
    "nothing needs it": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward(retain_graph=True)  # information: LG202
        """,
    "on the second alone": """
        import torch
        net = torch.nn.Linear(3, 3)
        h = torch.tanh(net(torch.randn(2, 3)))
        h.mean().backward()
        h.square().mean().backward(retain_graph=True)  # error: LG103
        """,
    "two terms of a generator, stepped in between": """
        import torch
        generator, critic = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
        fake = torch.tanh(generator(torch.randn(2, 3)))
        score = critic(fake)  # error: LG104
        score.mean().backward(retain_graph=True)
        opt_c.step()
        score.square().mean().backward()
        """,
    "False is no retaining": """
        import torch
        net = torch.nn.Linear(3, 3)
        h = torch.tanh(net(torch.randn(2, 3)))
        h.mean().backward(retain_graph=False)
        h.square().mean().backward()  # error: LG103
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    judge(RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    judge(WRONG[name])

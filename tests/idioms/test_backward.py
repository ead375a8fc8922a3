"""Backward and step in every form: each call is a backward, so a carry is found with it and its right twin is silent."""

from __future__ import annotations

import pytest

from .judge import judge, written

HEAD = """
import contextlib
import torch
from torch.utils.checkpoint import checkpoint
N = 6
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=True)
state = torch.zeros(2, 3)


def criterion(value):
    return value.square().mean()


class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu", enabled=False)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        self._scaler.step(optimizer)
        self._scaler.update()


class Accelerator:
    def backward(self, loss, **kwargs):
        loss.backward(**kwargs)


class Amp:
    @contextlib.contextmanager
    def scale_loss(self, loss, optimizer):
        yield loss * 2.0


class Engine:
    def __init__(self, module):
        self.module = module

    def __call__(self, x):
        return self.module(x)

    def backward(self, loss):
        loss.backward()

    def step(self):
        optimizer.step()
        optimizer.zero_grad()


class Holder:
    loss = None


class Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 1.0

    @staticmethod
    def backward(ctx, grad):
        return grad


loss_scaler, accelerator, amp, engine, self = NativeScaler(), Accelerator(), Amp(), Engine(net), Holder()
for i in range(N):
    optimizer.zero_grad()
    out = torch.tanh(net(torch.randn(2, 3)) + state)
"""

BACKWARDS = {
    "loss.backward()": "loss = out.square().mean(); loss.backward()",
    "of a call's result": "criterion(out).backward()",
    "of a sum": "(out.square().mean() + out.abs().mean()).backward()",
    "of an attribute": "self.loss = criterion(out); self.loss.backward()",
    "of a list's item": "losses = [criterion(out)]; losses[0].backward()",
    "of a dict's item": "losses = {'a': criterion(out)}; losses['a'].backward()",
    "of a sum over a dict": "losses = {'a': criterion(out)}; sum(losses.values()).backward()",
    "with a gradient": "out.backward(torch.ones_like(out))",
    "with a gradient by name": "out.square().backward(gradient=torch.ones(2, 3))",
    "torch.autograd.backward": "torch.autograd.backward(criterion(out))",
    "torch.autograd.backward of a list": "torch.autograd.backward([out.square().mean(), out.abs().mean()])",
    "autograd.grad": (
        "grads = torch.autograd.grad(criterion(out), list(net.parameters()))\n"
        "    for p, g in zip(net.parameters(), grads): p.grad = g"
    ),
    "autograd.grad with allow_unused": (
        "(net.weight.grad,) = torch.autograd.grad(criterion(out), net.weight, allow_unused=True)"
    ),
    "the unbound method": "torch.Tensor.backward(criterion(out))",
    "getattr": "getattr(criterion(out), 'backward')()",
    "in a function": "(lambda loss: loss.backward())(criterion(out))",
    "a scaled loss": "scaler.scale(criterion(out)).backward()",
    "a NativeScaler that is called": "loss_scaler(criterion(out), optimizer)",
    "an accelerator's": "accelerator.backward(criterion(out))",
    "apex' scale_loss": "with amp.scale_loss(criterion(out), optimizer) as scaled: scaled.backward()",
    "an engine's": "engine.backward(criterion(out)); engine.step()",
    "a Function of one's own": "Identity.apply(out).square().mean().backward()",
    "a checkpoint": "checkpoint(criterion, out, use_reentrant=False).backward()",
    "retain_graph=False": "criterion(out).backward(retain_graph=False)",
    "retain_graph by an expression": "criterion(out).backward(retain_graph=i < 0)",
    "inputs": "criterion(out).backward(inputs=list(net.parameters()))",
}


@pytest.mark.parametrize("statement", BACKWARDS.values(), ids=BACKWARDS.keys())
@pytest.mark.parametrize(
    "store", ["state = out.detach()", "state = out  # error: LG101"], ids=["cut", "carried"]
)
def test_backward(statement: str, store: str) -> None:
    judge(f"{HEAD}    {statement}\n    optimizer.step()\n    {store}\n")


PROGRAMS = {
    "optimizer.step(closure)": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
        x, y = torch.randn(4, 3), torch.randn(4, 1)
        for i in range(N):
            def closure():
                optimizer.zero_grad()
                loss = (net(x) - y).square().mean()
                loss.backward()
                return loss
            optimizer.step(closure)
        """,
    "a closure over what was built outside of it": """
        import torch
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
        x, y = torch.randn(4, 3), torch.randn(4, 1)
        out = net(x)  # error: LG102
        def closure():
            optimizer.zero_grad()
            loss = (out - y).square().mean()
            loss.backward()
            return loss
        optimizer.step(closure)
        """,
    "a step method that a loop elsewhere calls": """
        import torch
        N = 6

        class Agent:
            def __init__(self):
                self.net = torch.nn.GRUCell(3, 3)
                self.hidden = torch.zeros(2, 3)

            def update(self, x):
                self.hidden = self.net(x, self.hidden)  # error: LG101
                self.hidden.square().mean().backward()

        agent = Agent()
        for i in range(N):
            agent.update(torch.randn(2, 3))
        """,
    "a step method that cuts": """
        import torch
        N = 6

        class Agent:
            def __init__(self):
                self.net = torch.nn.GRUCell(3, 3)
                self.hidden = torch.zeros(2, 3)

            def update(self, x):
                self.hidden = self.net(x, self.hidden.detach())
                self.hidden.square().mean().backward()

        agent = Agent()
        for i in range(N):
            agent.update(torch.randn(2, 3))
        """,
    "a training_step that returns a dict, and a loop of one's own": """
        import torch
        N = 6

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Linear(3, 1)

            def training_step(self, batch, batch_idx):
                loss = self.net(batch).square().mean()
                return {"loss": loss, "log": {"loss": loss.detach()}}

        model = Model()
        optimizer = torch.optim.Adam(model.parameters())
        logs = []
        for i in range(N):
            result = model.training_step(torch.randn(2, 3), i)
            optimizer.zero_grad()
            result["loss"].backward()
            optimizer.step()
            logs.append(result["log"])
        """,
    "a training_step whose dict is kept whole": """
        import torch
        N = 6

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Linear(3, 1)

            def training_step(self, batch, batch_idx):
                loss = self.net(batch).square().mean()
                return {"loss": loss}

        model = Model()
        logs = []
        for i in range(N):
            result = model.training_step(torch.randn(2, 3), i)
            result["loss"].backward()
            logs.append(result)  # warning: LG201
        """,
    "an engine that calls a process function": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class Engine:
            def __init__(self, process):
                self.process = process
                self.output = None

            def run(self, data):
                for batch in data:
                    self.output = self.process(self, batch)

        def process(engine, batch):
            loss = net(batch).square().mean()
            loss.backward()
            return loss.item()

        Engine(process).run([torch.randn(2, 3) for _ in range(N)])
        """,
    "a DDP-like wrapper and a compiled module": """
        import torch
        N = 6

        class Wrapper(torch.nn.Module):
            def __init__(self, module):
                super().__init__()
                self.module = module

            def forward(self, *args):
                return self.module(*args)

        net = Wrapper(torch.nn.GRUCell(3, 3))
        hidden = torch.zeros(2, 3)
        for i in range(N):
            hidden = net(torch.randn(2, 3), hidden)  # error: LG101
            hidden.square().mean().backward()
        """,
    "a Function that saves what it needs": """
        import torch
        N = 6

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 2 * x * grad

        w = torch.nn.Parameter(torch.randn(3))
        state = torch.zeros(3)
        for i in range(N):
            state = Square.apply(w + state)  # error: LG101
            state.sum().backward()
        """,
    "a backward of each of several losses, over a graph that they share": """
        import torch
        net = torch.nn.Linear(3, 3)
        h = torch.tanh(net(torch.randn(2, 3)))
        losses = [h.mean(), h.square().mean()]  # error: LG103
        losses[0].backward()
        losses[1].backward()
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    judge(written(PROGRAMS[name]))

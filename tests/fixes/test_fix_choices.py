"""Which fix is preferred where several would do: what ``--fix`` makes of a script, run under torch afterwards."""

from __future__ import annotations

import contextlib
import io
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

from loopgrad.cli import main
from tests.cases import verify

#: A name: (the script, lines that it has afterwards, lines that it has no more)
SCRIPTS: dict[str, tuple[str, list[str], list[str]]] = {
    "a value of the constructor is computed where it is read, and its owner is made once": (
        """
        import torch
        N = 4
        class Agent:
            def __init__(self):
                self.log_alpha = torch.zeros(1, requires_grad=True)
                self.alpha = self.log_alpha.exp()
                self.optimizer = torch.optim.Adam([self.log_alpha])
            def learn(self):
                self.optimizer.zero_grad()
                (self.alpha * torch.rand(3)).mean().backward()
                self.optimizer.step()
        agent = Agent()
        for i in range(N):
            agent.learn()
        """,
        ["    @property", "        return self.log_alpha.exp()", "agent = Agent()"],
        ["        self.alpha = self.log_alpha.exp()", "    agent = Agent()"],
    ),
    "locals that a value of the constructor is computed from go with it": (
        """
        import torch
        N = 4
        class Bias(torch.nn.Module):
            def __init__(self, size):
                super().__init__()
                self.size = size
                self.table = torch.nn.Parameter(torch.zeros(size * size))
                index = torch.arange(size)
                pairs = index[:, None] * size + index
                self.bias = self.table[pairs.view(-1)].view(size, size)
            def forward(self, x):
                return (x + self.bias).softmax(-1)
        net = Bias(3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(N):
            optimizer.zero_grad()
            (net(torch.rand(3, 3)) ** 2).sum().backward()
            optimizer.step()
        """,
        ["        self.index = index", "        pairs = self.index[:, None] * self.size + self.index"],
        ["        self.bias = self.table[pairs.view(-1)].view(size, size)"],
    ),
    "two values of the constructor that one loss reads are both computed anew": (
        """
        import torch
        N = 4
        class Model:
            def __init__(self):
                self.net = torch.nn.Linear(2, 1)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                self.u = torch.tanh(self.net(torch.ones(3, 2)))
                self.f = torch.tanh(self.net(torch.zeros(3, 2)))
            def train(self):
                for i in range(N):
                    self.optimizer.zero_grad()
                    (self.u.pow(2).mean() + self.f.pow(2).mean()).backward()
                    self.optimizer.step()
        Model().train()
        """,
        ["    def u(self):", "    def f(self):"],
        [],
    ),
    "the whole forward pass moves into the loop, and nothing that it is made of": (
        """
        import torch
        N = 4
        xs = []
        for k in range(6):
            xs.append(k % 3)
        xs = torch.tensor(xs)
        w = torch.randn(3, 3, requires_grad=True)
        logits = torch.nn.functional.one_hot(xs, 3).float() @ w
        counts = logits.exp()
        loss = (counts / counts.sum(1, keepdim=True)).log().mean()
        for i in range(N):
            w.grad = None
            loss.backward()
            w.data -= w.grad
        """,
        ["    counts = logits.exp()", "xs = torch.tensor(xs)", "w = torch.randn(3, 3, requires_grad=True)"],
        ["counts = logits.exp()", "    xs = torch.tensor(xs)"],
    ),
    "the loss that was built first runs back first, with its own step": (
        """
        import torch
        N = 4
        def small():
            return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))
        g, d = small(), small()
        g_optim, d_optim = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (g, d))
        for i in range(N):
            fake = g(torch.randn(2, 3))
            one, two = d(fake), d(fake * 2)
            g_loss = one.mean() + two.mean()
            d_optim.zero_grad()
            d_loss = 0
            for real in torch.randn(2, 2, 3):
                d_loss = d_loss + d(fake.detach()).mean() - d(real).mean()
            d_loss.backward()
            d_optim.step()
            g_optim.zero_grad()
            g_loss.backward()
            g_optim.step()
        """,
        ["    g_optim.step()\n    d_optim.zero_grad()\n    d_loss = 0"],
        [],
    ),
    "a group whose gradients are cleared elsewhere clears them once more behind the other's step": (
        """
        import torch
        N = 4
        def small():
            return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))
        g, d = small(), small()
        g_optim, d_optim = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (g, d))
        def losses():
            g_optim.zero_grad()
            d_optim.zero_grad()
            fake = g(torch.randn(2, 3))
            return d(fake).mean(), d(fake.detach()).mean() - d(torch.randn(2, 3)).mean()
        def backward(g_loss=None, d_loss=None):
            if d_loss is not None:
                d_loss.backward()
            d_optim.step()
            if g_loss is not None:
                g_loss.backward()
            g_optim.step()
        for i in range(N):
            g_loss, d_loss = losses()
            backward(g_loss, d_loss)
        """,
        ["    g_optim.step()\n    d_optim.zero_grad()\n    if d_loss is not None:"],
        [],
    ),
    "what a chain changes in place is computed anew": (
        """
        import torch
        N = 4
        w = torch.randn(3, requires_grad=True)
        def normalise(x):
            return x.sub_(0.5).div_(2.0)
        for i in range(N):
            x = torch.sigmoid(w)
            loss = (normalise(x) * normalise(x)).sum()
            loss.backward()
            w.grad = None
        """,
        ["    return x.sub(0.5).div(2.0)"],
        [],
    ),
    "what a statement stores beside the carrier is cut in its own nesting": (
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.SGD([w])
        def record(history, kept, loss):
            return torch.cat([history, loss.reshape(1)]), kept + [loss]
        def train(history, kept):
            for i in range(N):
                loss = (w * w).sum()
                loss.backward()
                optimizer.step()
                history, kept = record(history, kept, loss)
        train(torch.zeros(0), [])
        """,
        ["        history = history.detach()\n        kept = [part.detach() for part in kept]"],
        [],
    ),
    "what has no graph is not cut beside the carrier": (
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        def record(mean, kept, loss):
            return 0.9 * (mean or 0.0) + 0.1 * loss.item(), [*kept, loss]
        mean, kept = None, []
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            mean, kept = record(mean, kept, loss)
        """,
        ["    kept = [part.detach() for part in kept]"],
        [],
    ),
    "a namespace is not a tensor": (
        """
        import torch
        from types import SimpleNamespace
        N = 6
        w = torch.randn(3, requires_grad=True)
        def record(log, loss):
            log.losses.append(loss)
        log = SimpleNamespace(losses=[])
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            record(log, loss)
        """,
        ["    record(log, loss.detach())"],
        [],
    ),
    "what is called is not a tensor": (
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        losses = []
        def report(callback, value):
            callback(value)
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            report(losses.append, loss)
        """,
        ["    report(losses.append, loss.detach())"],
        [],
    ),
    "what a partial stores is cut where it is given": (
        """
        import torch
        from functools import partial
        from types import SimpleNamespace
        N = 6
        w = torch.randn(3, requires_grad=True)
        state = SimpleNamespace(h=torch.zeros(3))
        save = partial(setattr, state, "h")
        for i in range(N):
            h = torch.tanh(w + state.h)
            h.sum().backward()
            save(h)
        """,
        ["    save(h.detach())"],
        [],
    ),
    "what a setattr stores is cut where it is given": (
        """
        import torch
        N = 6
        class State:
            h = None
        w = torch.randn(3, requires_grad=True)
        state = State()
        for i in range(N):
            h = torch.tanh(w if state.h is None else w + state.h)
            setattr(state, "h", h)
            h.sum().backward()
        """,
        ['    setattr(state, "h", h.detach())'],
        [],
    ),
    "what is made of a moved value and dropped before the loop is dropped in it": (
        """
        import torch
        N = 4
        w = torch.randn(3, requires_grad=True)
        f = (w * w).sum()
        seen = f.exp()
        del seen
        for i in range(N):
            f.backward()
        """,
        ["    f = (w * w).sum()\n    seen = f.exp()\n    del seen\n    f.backward()"],
        ["del seen"],
    ),
    "a tensor that is made of other things than the number is left as it is": (
        """
        import torch
        N = 4
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            loss = torch.tensor(0.0) + (w * w).sum().item()
            mask = torch.tensor([True, False, True])
            loss.backward()
        """,
        ["    loss = torch.tensor(0.0) + (w * w).sum()", "    mask = torch.tensor([True, False, True])"],
        [],
    ),
    "a number that comes into a list by another name": (
        """
        import torch
        N = 4
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            losses = []
            for x in torch.randn(2, 3):
                loss = (w * x).sum().item()
                half = loss / 2
                losses.append(half)
            scale = torch.tensor([1.0, 2.0])
            (torch.tensor(losses) * scale).sum().backward()
        """,
        ["        loss = (w * x).sum()", "    (torch.stack(losses) * scale).sum().backward()"],
        [],
    ),
}

#: Programs that raise, in which no edit is right.
UNMENDED = {
    "what is used around a closure is not computed in it": """
        import torch
        N = 4
        net = torch.nn.Linear(3, 3)
        solver = torch.optim.LBFGS(net.parameters(), max_iter=3)
        for i in range(N):
            out = net(torch.randn(2, 3))
            out.retain_grad()
            def closure():
                loss = out.square().mean()
                loss.backward()
                return loss
            solver.step(closure)
        """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_preferred_fix(name: str, tmp_path: Path) -> None:
    text, there, gone = SCRIPTS[name]
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text).lstrip())
    assert verify.observe(script, "N")["outcome"] not in ("clean", "error")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main(["check", str(script), "--fix", "--no-cache"])
    fixed = "\n" + script.read_text()
    for lines in there:
        assert f"\n{lines}\n" in fixed, fixed
    for lines in gone:
        assert f"\n{lines}\n" not in fixed, fixed
    assert verify.observe(script, "N")["outcome"] == "clean", fixed


@pytest.mark.parametrize("name", UNMENDED)
def test_no_fix_is_preferred(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    before = textwrap.dedent(UNMENDED[name]).lstrip()
    script.write_text(before)
    assert verify.observe(script, "N")["outcome"] not in ("clean", "error")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main(["check", str(script), "--fix", "--no-cache"])
    assert script.read_text() == before
    assert "second-backward" in said.getvalue() or "LG102" in said.getvalue()

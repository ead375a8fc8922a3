"""Programs on which the analysis and PyTorch once disagreed, named after what they taught.

Each runs under PyTorch first: the outcome below is torch's, and the analysis has to say the same. They came from
generated programs (``tests/oracle``), cut down to what mattered.
"""

from __future__ import annotations

import textwrap

import pytest

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

pytest.importorskip("torch")

from tests.torch_runner.run_block import observe

PROGRAMS: dict[str, tuple[str, str]] = {
    "the last state of a sequence goes into no loss, each state before it is behind the outputs": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        def unroll(xs, v):
            outs = []
            for t in range(xs.shape[0]):
                h = v + w * xs[t]
                y = torch.tanh(h)
                v = h - y
                outs.append(y)
            return torch.stack(outs), v
        for i in range(N):
            ys, _ = unroll(torch.randn(5, 3), torch.zeros(3))
            ys.sum().backward()
        """,
    ),
    "a view taken under no_grad keeps what it is a view of": (
        "grows",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        kept = []
        for i in range(N):
            y = torch.tanh(w)
            with torch.no_grad():
                kept.append(y[0])
        """,
    ),
    "numbers that a dataset gives are collated into tensors": (
        "grows",
        """
        import torch
        from torch.utils.data import DataLoader, Dataset
        N = 6
        class Pairs(Dataset):
            def __len__(self):
                return N
            def __getitem__(self, i):
                return torch.randn(3), int(torch.randint(3, ()))
        net = torch.nn.Linear(3, 3)
        def forward(x, y=None):
            out = net(x)
            loss = None
            if y is not None:
                loss = torch.nn.functional.cross_entropy(out, y)
            return loss
        total = 0
        for x, y in DataLoader(Pairs()):
            loss = forward(x, y)
            loss.backward()
            total += loss
        """,
    ),
    "a list of a call that is over carries nothing, what was stored of it since does": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        def unroll(h):
            outs = []
            for t in range(3):
                h = torch.tanh(h * w)
                outs.append(h)
            return torch.stack(outs).sum(), h
        kept = [torch.ones(3)]
        for i in range(4):
            loss, kept[0] = unroll(kept[0])
            loss.backward()
        """,
    ),
    "a view taken under no_grad still requires grad": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            with torch.no_grad():
                v = w.view(3)
            v[0].backward()
        """,
    ),
    "a generator keeps what is sent to a yield inside of a call": (
        "grows",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        def collector():
            kept = []
            while True:
                kept.append((yield len(kept)))
        tape = collector()
        next(tape)
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            tape.send(loss)
        """,
    ),
    "set_grad_enabled as a context restores what was before it was made": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            loss = w.sum()
            with torch.set_grad_enabled(False):
                pass
            (loss + w.sum()).backward()
        """,
    ),
    "the cell state of an LSTMCell brings no weights along": (
        "grows",
        """
        import torch
        N = 6
        cell = torch.nn.LSTMCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        h = c = torch.zeros(3)
        for i in range(N):
            h, c = cell(torch.randn(3), (h.detach(), c))
            h.sum().backward(retain_graph=True)
            optimizer.step()
        """,
    ),
    "a hidden state of an LSTMCell does": (
        "inplace-version",
        """
        import torch
        cell = torch.nn.LSTMCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        h = c = torch.zeros(3)
        for i in range(6):
            h, c = cell(torch.randn(3), (h, c))
            h.sum().backward(retain_graph=True)
            optimizer.step()
        """,
    ),
    "detaching the hidden state alone raises through the cell state": (
        "second-backward",
        """
        import torch
        cell = torch.nn.LSTMCell(3, 3)
        h = c = torch.zeros(3)
        for i in range(4):
            h, c = cell(torch.randn(3), (h.detach(), c))
            h.sum().backward()
        """,
    ),
    "a value that was never given a graph": (
        "no-grad-fn",
        """
        import torch
        u = torch.randn(3)
        loss = u.sum()
        loss.backward()
        """,
    ),
    "autograd.grad of something without a graph": (
        "no-grad-fn",
        """
        import torch
        u = torch.randn(3)
        torch.autograd.grad(u.sum(), [u])
        """,
    ),
    "a value that follows its parameter for three iterations only does not grow": (
        "clean",
        """
        import torch
        N = 6
        u = torch.nn.Parameter(torch.randn(3))
        for i in range(N):
            if 0 < i < 3:
                u = u - 0.01
            v = torch.softmax(u, 0)
        """,
    ),
    "a state behind softmax raises one iteration after the silent one": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        state = torch.zeros(3)
        for i in range(5):
            state = torch.cat([torch.softmax(state, 0)[:2], w])[:3]
            state.sum().backward()
        """,
    ),
    "reshape of contiguous memory is a view: its base's change is seen": (
        "inplace-version",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        scale = torch.ones(3)
        v = scale.reshape(-1) * w
        scale.add_(1.0)
        v.sum().backward()
        """,
    ),
    "a buffer written by index raises though only additions lead to it": (
        "second-backward",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        rows = torch.zeros(2, 3)
        for i in range(3):
            rows[i % 2] = w + 1
            rows.sum().backward()
        """,
    ),
    "what an inner backward leaves unwalked is not freed": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            h = w * w
            (g,) = torch.autograd.grad((h * 2).sum(), [h])
            (h * g).sum().backward()
        """,
    ),
    "a backward in every third iteration of twelve": (
        "second-backward",
        """
        import torch
        N = 12
        cell = torch.nn.GRUCell(3, 4)
        h = torch.zeros(2, 4)
        for i in range(N):
            h = cell(torch.randn(2, 3), h)
            if i % 3 == 2:
                h.pow(2).mean().backward()
        """,
    ),
    "a window of the last three, kept by hand": (
        "clean",
        """
        import torch
        N = 12
        net = torch.nn.Linear(3, 1)
        window = []
        for i in range(N):
            window.append(net(torch.randn(2, 3)).mean())
            if len(window) > 3:
                window.pop(0)
        """,
    ),
    "a window of the last three, cut by a slice": (
        "clean",
        """
        import torch
        N = 12
        net = torch.nn.Linear(3, 1)
        window = []
        for i in range(N):
            window.append(net(torch.randn(2, 3)).mean())
            window = window[-3:]
        """,
    ),
    "a list that is filled in every second iteration": (
        "grows",
        """
        import torch
        N = 24
        net = torch.nn.Linear(3, 1)
        losses = []
        for i in range(N):
            loss = net(torch.randn(2, 3)).mean()
            loss.backward()
            if i % 2 == 0:
                losses.append(loss)
        """,
    ),
    "a list that is filled from the third iteration on": (
        "grows",
        """
        import torch
        N = 24
        net = torch.nn.Linear(3, 1)
        losses = []
        for i in range(N):
            loss = net(torch.randn(2, 3)).mean()
            loss.backward()
            if i >= 2:
                losses.append(loss)
        """,
    ),
    "a list that is filled in the first three iterations only": (
        "clean",
        """
        import torch
        N = 24
        net = torch.nn.Linear(3, 1)
        losses = []
        for i in range(N):
            loss = net(torch.randn(2, 3)).mean()
            loss.backward()
            if i < 3:
                losses.append(loss)
        """,
    ),
    "the last round of an endless loop with a counter": (
        "no-grad-fn",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        i = -1
        while True:
            i += 1
            if i == N:
                break
            loss = w.sum()
            if i == N - 1:
                loss = loss.detach()
            loss.backward()
        """,
    ),
    "requires_grad set on a loss that kept its graph": (
        "error",
        """
        import torch
        w = torch.randn(3, requires_grad=True)
        for i in range(4):
            loss = w.sum()
            loss.requires_grad = True
            loss.backward()
        """,
    ),
    "a loss that was made a leaf, beside one that trains everything": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for i in range(N):
            optimizer.zero_grad()
            w.sum().backward()
            extra = (w * w).sum().detach()
            extra.requires_grad = True
            extra.backward()
            optimizer.step()
        """,
    ),
    "what a module has and no model knows of is no error": (
        "second-backward",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        net.reset_parameters()
        if net.weight.is_nested:
            print('nested')
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "what is asserted holds": (
        "second-backward",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        assert {id(p) for p in net.parameters()} == {id(net.weight), id(net.bias)}
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "pooling with a positional stride gives a tensor": (
        "second-backward",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        z = torch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 4), 2, 2)
        z = z.view(-1, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "arguments out of an argument parser": (
        "second-backward",
        """
        import argparse
        import torch
        N = 6
        class Net(torch.nn.Linear):
            def __init__(self, width, **options):
                super().__init__(width, width)
        parser = argparse.ArgumentParser()
        parser.add_argument('--width', type=int, default=3)
        net = Net(**vars(parser.parse_args([])))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "an optimizer of the user's own has the keys of its defaults": (
        "second-backward",
        """
        import torch
        N = 6
        class Mine(torch.optim.Optimizer):
            def __init__(self, params, momentum=0.9):
                super().__init__(params, dict(momentum=momentum))
            @torch.no_grad()
            def step(self):
                for group in self.param_groups:
                    for p in group['params']:
                        p.add_(p.grad, alpha=-group['momentum'])
        net = torch.nn.Linear(3, 3)
        opt = Mine(net.parameters())
        h = torch.zeros(2, 3)
        for i in range(N):
            h = torch.tanh(net(h))
            loss = h.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    "a loop over the layers of a model, called without no_grad": (
        "clean",
        """
        import torch
        N = 6
        layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(6)])
        for i in range(N):
            x = torch.randn(2, 4)
            for layer in layers:
                x = torch.relu(layer(x))
            print(x.argmax().item())
        """,
    ),
    "a Variable of a tensor is the tensor without its graph": (
        "clean",
        """
        import torch
        from torch.autograd import Variable
        N = 6
        net = torch.nn.Linear(3, 3)
        memory = torch.zeros(2, 3)
        for i in range(N):
            out = net(torch.randn(2, 3)) + memory
            memory = Variable(out)
            out.square().mean().backward()
        """,
    ),
    "a tensor in an old format string is read and stays what it is": (
        "second-backward",
        """
        import torch
        net = torch.nn.Linear(3, 3)
        loss = net(torch.randn(2, 3)).mean()
        text = "%.3f" % loss
        loss.backward()
        loss.backward()
        """,
    ),
    "a graph that is retained but for its last use": (
        "clean",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(N):
            out = net(torch.randn(2, int(torch.randint(3, 6, (1,))), 3)).relu()
            length = out.size(1)
            optimizer.zero_grad()
            for k in range(length):
                loss = out[:, k].square().sum()
                loss.backward(retain_graph=k + 1 < length)
            optimizer.step()
        """,
    ),
    "a sum that waits for its backward behind a continue": (
        "clean",
        """
        import sys
        import torch
        N = 12
        every = len(sys.argv) + 1
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        total = 0
        for i in range(N):
            total = total + net(torch.randn(2, 3)).square().mean()
            if (i + 1) % every != 0:
                continue
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            total = 0
        """,
    ),
    "an optimizer's state of each parameter": (
        "second-backward",
        """
        import torch
        net = torch.nn.Linear(3, 3)
        class Ascent(torch.optim.SGD):
            def first_step(self):
                with torch.no_grad():
                    for group in self.param_groups:
                        for p in group["params"]:
                            self.state[p]["old"] = p.clone()
                            p.add_(p.grad)
        optimizer = Ascent(net.parameters(), lr=0.1)
        for i in range(3):
            loss = net(torch.randn(2, 3)).mean()
            loss.backward()
            optimizer.first_step()
            loss.backward()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_analysis_says_what_torch_does(name: str) -> None:
    outcome, text = PROGRAMS[name]
    source = textwrap.dedent(text).lstrip()
    assert outcome != "clean" or "\nN = " in source, "without a number of steps growth would not show"
    report = observe(source, steps="N" if "\nN = " in source else None)
    assert report.outcome == outcome, "this is no longer what torch does"
    found = [
        f
        for f in check(SourceFile("program.py", source), FileProvider([])).findings
        if f.severity != "information"
    ]
    assert {finding.outcome for finding in found} == ({outcome} - {"clean", "error"})
    raising = [finding for finding in found if finding.raised_at is not None]
    assert all(finding.certainty == "certain" for finding in found)
    assert all(
        finding.raised_at is not None and finding.raised_at[1].line == report.line for finding in raising
    )

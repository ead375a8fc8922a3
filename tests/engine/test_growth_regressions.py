"""Programs that keep graphs, or seem to, on which the analysis and PyTorch once disagreed.

Each runs under PyTorch first: the outcome below is torch's, and the analysis has to say the same. They came from
generated programs (``tests/oracle``) and public code, cut down to what mattered.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import says_what_torch_does

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
    "an endless loop in two that turn twice": (
        "grows",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        record = torch.zeros(3)
        for trial in range(2):
            for epoch in range(2):
                i = -1
                while True:
                    i += 1
                    if i == N:
                        break
                    loss = (w * w).sum()
                    loss.backward()
                    record[i % 3] += loss
        """,
    ),
    "a generator's batches in two loops that turn twice": (
        "grows",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        losses = []
        def batches(count):
            for _ in range(count):
                yield torch.randn(3)
        for trial in range(2):
            for epoch in range(2):
                for x in batches(N):
                    loss = (x * w).sum()
                    losses.append(loss)
                    loss.backward()
        """,
    ),
    "what is added to a gradient with a graph has none, the sum has": (
        "grows",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            loss = w.square().sum() if i == 2 else w.sum()
            loss.backward(create_graph=True)
        """,
    ),
    "a gradient without a graph that is added to does not grow": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        for i in range(N):
            w.sum().backward(create_graph=True)
        """,
    ),
    "a backward that raises, and is caught, consumes nothing": (
        "grows",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        position = torch.randn(4, 3)
        i = 0
        for epoch in range(3):
            while True:
                position = position + net(position)
                try:
                    position.square().mean().backward()
                except RuntimeError:
                    pass
                i += 1
                if i >= N:
                    break
        """,
    ),
    "a function that trains step by step is called without an optimizer": (
        "grows",
        """
        import torch
        N = 6
        cell = torch.nn.RNNCell(3, 3)
        def run(optimizer):
            h = torch.zeros(1, 3)
            for t in range(N):
                h = cell(torch.randn(1, 3), h)
                if optimizer is not None:
                    optimizer.zero_grad()
                    h.sum().backward()
                    optimizer.step()
                    h = h.detach()
        run(torch.optim.SGD(cell.parameters(), lr=0.1))
        run(None)
        """,
    ),
    "a loop in which an optimizer steps is no part of another one's step": (
        "grows",
        """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(2):
            losses, total = [], 0
            for i in range(N):
                y = net(torch.randn(3))
                losses.append(y[0])
                optimizer.step()
                if i < 2:
                    total = total + y.sum()
            optimizer.zero_grad()
            total.backward()
        """,
    ),
    "an iteration of unknown many that does nothing is made up for": (
        "grows",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        total = 0.0
        def batches(count):
            for _ in range(count):
                yield torch.randn(3)
        for step, x in enumerate(batches(N)):
            if step == 1:
                continue
            loss = (x * w).sum()
            loss.backward()
            total += loss
        """,
    ),
    "an iteration of unknown many that does nothing, and a window": (
        "clean",
        """
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        kept = []
        def batches(count):
            for _ in range(count):
                yield torch.randn(3)
        for step, x in enumerate(batches(N)):
            if step == 1:
                continue
            loss = (x * w).sum()
            loss.backward()
            kept = kept[-1:] + [loss]
        """,
    ),
    "a window, and iterations that do nothing behind the fourth": (
        "clean",
        """
        import itertools
        import torch
        N = 6
        w = torch.randn(3, requires_grad=True)
        history = ()
        for i in itertools.count():
            if i == N:
                break
            if i >= 4:
                continue
            loss = (w * torch.randn(3)).sum()
            loss.backward()
            history = (*history[-2:], loss)
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_analysis_says_what_torch_does(name: str) -> None:
    says_what_torch_does(*PROGRAMS[name])

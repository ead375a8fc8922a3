"""Generated programs on which the analysis and PyTorch disagreed: gradients of gradients, and growth in few steps.

Each is cut down to what mattered and run under PyTorch with every assignment of its conditions; the analysis has to
agree with all of these runs (``tests/oracle`` says how). Named after what they taught.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import EVERY, every_run_is_told

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "the gradient of one factor hangs on the other alone": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            v = torch.tanh(w) + m @ torch.ones(3)
            v.mean().backward(create_graph=True)
            w.grad = None
        """,
    ),
    "the gradient of the other factor does have a graph": (
        ["grows"] * EVERY,
        """
        for i in range(N):
            (m @ torch.tanh(w)).mean().backward(create_graph=True)
            w.grad = None
        """,
    ),
    "what is zeroed hands on a gradient of zeros": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            v = w + 1.0
            v.zero_()
            v.norm().backward(create_graph=True)
        """,
    ),
    "a constant gradient is added to the graph of those before it": (
        ["grows"] * EVERY,
        """
        w.exp().sum().backward(create_graph=True)
        for i in range(N):
            w.sum().backward(create_graph=True)
        """,
    ),
    "a constant gradient is put in the place of none": (
        ["clean"] * EVERY,
        """
        w.exp().sum().backward(create_graph=True)
        for i in range(N):
            w.grad = None
            w.sum().backward(create_graph=True)
        """,
    ),
    "a tensor whose gradient is asked for is walked through to what made it": (
        ["second-backward"] * EVERY,
        """
        v = w * 0.9
        for i in range(N):
            torch.dot(v, u).backward(inputs=[v])
        """,
    ),
    "autograd.grad stops at what made the tensor": (
        ["clean"] * EVERY,
        """
        v = w * 0.9
        for i in range(N):
            torch.autograd.grad(torch.dot(v, u), [v])
        """,
    ),
    "a leaf whose gradient is asked for has to require it": (
        ["clean"] * EVERY,
        """
        optimizer = torch.optim.SGD([w, u])
        v = (w * 0.9).detach().requires_grad_(True)
        for i in range(N):
            torch.dot(v, u).backward(inputs=[v])
            optimizer.step()
        """,
    ),
    "no fix takes away the gradient that a backward asks for": (
        ["inplace-version"] * EVERY,
        """
        for i in range(N):
            y = w * u
            first, second = y.sum(), (y * u).sum()
            first.backward(retain_graph=True)
            with torch.no_grad():
                w -= 0.01 * w.grad
            second.backward(inputs=[w])
        """,
    ),
    "the gradient of a gradient may be a constant": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            (g,) = torch.autograd.grad((w * u).sum(), [w], create_graph=True)
            g.mean().backward(create_graph=True)
        """,
    ),
    "each input has a gradient of its own": (
        ["no-grad-fn"] * EVERY,
        """
        for i in range(N):
            loss = (m @ torch.ones(3)).sum() + (w * w).sum()
            gw, gm = torch.autograd.grad(loss, [w, m], create_graph=True)
            gm.sum().backward()
        """,
    ),
    "a sum in a part of a tensor grows": (
        ["grows"] * EVERY,
        """
        net = nn.Linear(3, 3)
        sums = torch.zeros(3)
        for i in range(N):
            sums[i % 3] += net(torch.randn(3))[0]
        """,
    ),
    "what is made anew of a graph that no longer grows does not grow": (
        ["clean"] * EVERY,
        """
        h = torch.zeros(3)
        for i in range(N):
            v = u + torch.tanh(h)
            if i < 4:
                h = torch.tanh(v)
        """,
    ),
    "most of the paths that keep something let it grow": (
        ["clean", "grows", "clean", "clean"],
        """
        losses = []
        for i in range(N):
            loss = (w * u).sum()
            if args.b:
                losses.append(loss)
            if args.a:
                del losses[:]
        """,
    ),
    "what is kept every third step grows in more steps than these": (
        ["grows"] * EVERY,
        """
        total = 0.0
        for i in range(N):
            loss = (w * u).sum()
            if i % 3 == 0:
                total += loss
        """,
    ),
    "what is cleared in early steps grows after them": (
        ["grows"] * EVERY,
        """
        losses = []
        for i in range(N):
            losses.append((w * u).sum())
            if i in (1, 3):
                losses.clear()
        """,
    ),
    "what is cleared in the last step does not": (
        ["clean"] * EVERY,
        """
        losses = []
        for i in range(N):
            if i % 2 == 0:
                losses.append((w * u).sum())
            if i == N - 1:
                losses.clear()
        """,
    ),
    "one cause raises in two places": (
        ["no-grad-fn"] * EVERY,
        """
        for i in range(N):
            (w * u).sum().backward()
            torch.set_grad_enabled(False)
            v = (m @ w).sum()
            if args.a:
                v.backward()
        """,
    ),
    "what a script calls after it has raised is dead": (
        ["leaf-inplace"] * EVERY,
        """
        w.view(-1).add_(0.1)
        def step(x):
            loss = (u * x).sum()
            for j in range(1, 3):
                loss.backward()
        for i in range(N):
            step(torch.randn(3))
        """,
    ),
    "a view of what has changed since gets its node when it is asked for": (
        ["grows"] * EVERY,
        """
        optimizer = torch.optim.SGD([w], lr=0.01)
        losses = []
        for i in range(N):
            loss = w[0]
            loss.backward()
            losses.append(loss)
            optimizer.step()
        """,
    ),
    "an input that was not used has no gradient": (
        ["second-backward"] * EVERY,
        """
        for i in range(N):
            v = w * u
            (g,) = torch.autograd.grad(torch.dot(v, u), [w], allow_unused=True)
            loss = torch.dot(v, w) + g.norm()
            loss.backward()
        """,
    ),
    "a view taken in inference mode is no inference tensor": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            with torch.inference_mode():
                v = w.expand(3)
            v[0].backward()
        """,
    ),
    "the same part of a leaf each time": (
        ["grows"] * EVERY,
        """
        total = 0.0
        for i in range(N):
            total += w[:1]
        """,
    ),
    "gradients that one condition clears in place": (
        ["grows", "grows", "clean", "clean"],
        """
        optimizer = torch.optim.Adam([u])
        for i in range(N):
            if args.a:
                optimizer.zero_grad(set_to_none=False)
            u.norm().backward(create_graph=True)
        """,
    ),
    "every whole number is a multiple of one, also behind a loop that was cut": (
        ["clean"] * EVERY,
        """
        cell = nn.GRUCell(3, 3)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
        batches = iter([torch.randn(4, 3) for _ in range(N)])
        h = torch.zeros(4, 3)
        i = 0
        for epoch in range(2):
            while True:
                try:
                    x = next(batches)
                except StopIteration:
                    break
                if i % 1 == 0:
                    h = h.detach()
                h = cell(x, h)
                optimizer.zero_grad()
                h.mean().backward(retain_graph=True)
                optimizer.step()
                i += 1
        """,
    ),
    "what misses the last step grows in more steps than these": (
        ["grows"] * EVERY,
        """
        total = 0.0
        for i in range(N):
            if i == N - 1:
                continue
            total += (w * u).sum()
        """,
    ),
    "what an earlier iteration recorded is counted a second time, though no weight has changed": (
        ["clean"] * EVERY,
        """
        h = torch.zeros(3)
        for i in range(N):
            if i % 2 == 0:
                h = torch.zeros(3)
            h = w + h
            h.sum().backward()
        """,
    ),
    "what is kept late only": (
        ["grows"] * EVERY,
        """
        losses = []
        for i in range(N):
            if i < 4:
                continue
            losses.append((w * u).sum())
        """,
    ),
    "what one condition clears is not stepped": (
        ["inplace-version", "inplace-version", "second-backward", "second-backward"],
        """
        optimizer = torch.optim.SGD([m], lr=0.1)
        h = torch.ones(3)
        for i in range(N):
            loss = torch.tanh(h).sum()
            h = m @ h
            if i > 0:
                loss.backward()
            if args.a:
                optimizer.zero_grad()
            optimizer.step()
        """,
    ),
    "what the last step makes of two older graphs does not grow": (
        ["clean"] * EVERY,
        """
        h = torch.zeros(3)
        for i in range(N):
            v = u + torch.tanh(h)
            if i in (1, 3):
                h = h + v
        """,
    ),
    "a view taken under no_grad keeps the graph of its base": (
        ["grows"] * EVERY,
        """
        logs = []
        for i in range(N):
            v = torch.tanh(w)
            v.sum().backward()
            with torch.no_grad():
                logs.append(v[0])
        """,
    ),
    "looking at the names of a function's frame keeps nothing alive": (
        ["clean"] * EVERY,
        """
        def train():
            p = torch.randn(3, requires_grad=True)
            optimizer = torch.optim.SGD([p])
            average = torch.zeros(3)
            for i in range(N):
                if i == N - 1:
                    average = average.detach()
                average.add_(p)
                optimizer.step()
        train()
        """,
    ),
    "a view of a leaf says that it requires grad as soon as the leaf does": (
        ["clean"] * EVERY,
        """
        p = torch.randn(3)
        v = p.reshape(-1)
        part = p[0]
        p.requires_grad_(True)
        for i in range(N):
            (v * 2.0).sum().backward()
            part.square().backward()
        """,
    ),
    "but a backward cannot start at such a view": (
        ["no-grad-fn"] * EVERY,
        """
        p = torch.randn(3)
        part = p[0]
        p.requires_grad_(True)
        part.backward()
        """,
    ),
    "a loss of what a counter has ended, and of the last iteration's part of it, does not grow": (
        ["clean"] * EVERY,
        """
        last, h = w, torch.zeros(3)
        for i in range(N):
            loss = (w * h + last).sum()
            loss.backward()
            last = w + h
            if i >= 4:
                continue
            h = h + w
        """,
    ),
    "nor does one end there, so that no gradient leads back to it": (
        ["clean"] * EVERY,
        """
        def step():
            with torch.no_grad():
                v = w[0].expand(3)
            v.norm().backward(create_graph=True)
        for i in range(N):
            step()
        """,
    ),
    "until the view itself is asked to require one": (
        ["grows"] * EVERY,
        """
        def step():
            with torch.no_grad():
                v = w[0].expand(3)
            v.requires_grad_(True)
            v.norm().backward(create_graph=True)
        for i in range(N):
            step()
        """,
    ),
    "a window is one where a loop runs a second time, too short to show it": (
        ["clean"] * EVERY,
        """
        steps = iter(range(N))
        kept = ()
        for epoch in range(2):
            while True:
                try:
                    k = next(steps)
                except StopIteration:
                    break
                loss = (w * k).sum()
                loss.backward(retain_graph=True)
                kept = (*kept[-3:], loss)
        """,
    ),
    "a number that is changed under a condition is not None": (
        ["clean"] * EVERY,
        """
        average = 0.0
        for i in range(N):
            loss = (w * w).sum()
            loss.backward()
            if args.a:
                average = loss if average is None else 0.9 * average + 0.1 * loss.item()
        """,
    ),
    "the gradient of a product needs the other factor for that of a gradient alone": (
        ["grows"] * EVERY,
        """
        fast = w * 1.0
        for i in range(N):
            (g,) = torch.autograd.grad(torch.dot(fast, u), [fast], create_graph=True)
            fast = fast - 0.1 * g
            fast.mean().backward(retain_graph=True)
            with torch.no_grad():
                u.mul_(0.9)
        """,
    ),
    "so that it raises where that has a graph": (
        ["inplace-version"] * EVERY,
        """
        (g,) = torch.autograd.grad(torch.dot(w, u).square(), [w], create_graph=True)
        with torch.no_grad():
            u.mul_(0.9)
        g.sum().backward()
        """,
    ),
    "but a convolution always does": (
        ["inplace-version"] * EVERY,
        """
        x = w.view(1, 1, 3) * 1.0
        (g,) = torch.autograd.grad(F.conv1d(x, u.view(1, 1, 3)).sum(), [x], create_graph=True)
        with torch.no_grad():
            u.mul_(0.9)
        g.sum().backward()
        """,
    ),
    "of two saved tensors the second of a product is taken up first, whichever way it cannot be used": (
        ["inplace-version"] * EVERY,
        """
        v = torch.exp(u)
        y = v * w
        v.detach_()
        with torch.no_grad():
            w.mul_(0.9)
        y.sum().backward()
        """,
    ),
    "and of a dot product the first": (
        ["inplace-version"] * EVERY,
        """
        v = torch.exp(u)
        y = torch.dot(w, v)
        v.detach_()
        with torch.no_grad():
            w.mul_(0.9)
        y.backward()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    every_run_is_told(*PROGRAMS[name])

"""Generated programs that keep graphs in few steps, or on few of their paths, on which the analysis once disagreed.

Each is cut down to what mattered and run under PyTorch with every assignment of its conditions, and with more steps;
the analysis has to agree with all of these runs (``tests/oracle`` says how). Named after what they taught.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import EVERY, every_run_is_told

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a loop that is left in its fourth iteration goes on with more steps": (
        ["grows"] * EVERY,
        """
        kept = []
        for step in reversed(range(N)):
            loss = (w * w).sum()
            if step == 2:
                break
            kept.append(loss)
        """,
    ),
    "a loop that is left in its fourth iteration whatever the steps": (
        ["clean"] * EVERY,
        """
        kept = []
        for step in range(N):
            loss = (w * w).sum()
            if step == 3:
                break
            kept.append(loss)
        """,
    ),
    "what raises in the second iteration shows no growth, and is no sign against it": (
        ["no-grad-fn", "no-grad-fn", "grows", "clean"],
        """
        stats = {"loss": 0.0}
        for i in range(N):
            v = w
            if args.a:
                v = m @ u
            loss = v[0]
            loss.backward()
            stats["loss"] += loss
            if args.b:
                stats["loss"] = 0.0
            w.requires_grad_(False)
        """,
    ),
    "a list that grows where neither of two conditions clears or walks it": (
        ["grows", "second-backward", "clean", "clean"],
        """
        kept = []
        for i in range(N):
            kept.append((w * i).square().sum())
            loss = sum(kept)
            if args.b:
                loss.backward()
            if args.a:
                kept = []
        """,
    ),
    "a list that is filled every third iteration, and was cleared once": (
        ["grows"] * EVERY,
        """
        kept = []
        for i in range(N):
            loss = (w * w).sum()
            if i == 2:
                kept = []
            if i % 3 == 0:
                kept.append(loss)
        """,
    ),
    "a list that is filled every third iteration, and not in the first": (
        ["grows"] * EVERY,
        """
        kept = []
        for i in range(N):
            loss = (w * i).norm()
            if i % 3 == 0:
                if i >= 3:
                    kept.extend([loss])
            loss.backward()
        """,
    ),
    "a list that holds one value of the fourth iteration": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N):
            loss = (w * w).sum()
            if i == 3:
                kept.append(loss)
        """,
    ),
    "a sum that grows every third iteration, and begins in the fourth": (
        ["grows"] * EVERY,
        """
        total = 0.0
        for i in range(N):
            if i >= 3:
                if i % 3 == 0:
                    total = total + (w * w).sum()
        """,
    ),
    "the one backward of the last iteration walks all that was carried": (
        ["clean"] * EVERY,
        """
        fast = w
        for i in range(N):
            fast = fast - 0.1
            loss = fast.sum()
            if i == N - 1:
                loss.backward()
        """,
    ),
    "the one backward of the last iteration walks one value of all that are kept": (
        ["grows"] * EVERY,
        """
        kept = ()
        for i in range(N):
            v = torch.stack([torch.randn(3), w])
            if i == N - 1:
                v.sum().backward()
            kept = kept + (v,)
        """,
    ),
    "a list that no epoch ends, of which one value of each epoch is walked": (
        ["grows"] * EVERY,
        """
        losses = []
        for epoch in range(2):
            total = 0
            for i in range(N):
                losses.append((w * w).sum())
                if i == 2:
                    total += losses[-1]
            total.backward()
        """,
    ),
    "a list of each epoch, of which one value is walked": (
        ["clean"] * EVERY,
        """
        for epoch in range(N):
            losses = []
            for i in range(6):
                losses.append((w * w).sum())
            losses[-1].backward()
        """,
    ),
    "what is carried where a flag says no backward, and raises where it says one": (
        ["grows", "grows", "second-backward", "second-backward"],
        """
        def mix(p, q):
            return p + q

        h = torch.zeros(3)
        for i in range(N):
            v = mix(torch.sin(h), w)
            if args.a:
                v.sum().backward()
            w.requires_grad_(False)
            h = v
        """,
    ),
    "two values that lead to each other, where a flag says no backward": (
        ["grows", "grows", "second-backward", "second-backward"],
        """
        history = [torch.ones(3)]
        h = torch.ones(3)
        for i in range(N):
            v = h * (history[-1] + w)
            if args.a:
                torch.dot(v, w).backward()
            h = torch.where(torch.tensor([True, False, True]), w, h)
            history.append(v)
        """,
    ),
    "what each iteration builds for three backwards of its own is no cause of what a module carries": (
        ["grows", "grows", "second-backward", "second-backward"],
        """
        class Cell(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(3))
                self.h = torch.zeros(3)

            def forward(self, x):
                out = torch.sin(self.h) + self.scale * x
                self.h = out
                return out

        cell = Cell()
        opt = torch.optim.SGD(cell.parameters(), lr=0.01)
        for i in range(N):
            x = torch.randn(3)
            out = cell(x)
            for j in [0, 1, 2]:
                if args.a:
                    torch.dot(x - out, x).backward()
        """,
    ),
    "a loop whose backward finds no graph under a flag unrolls no sequence without it": (
        ["grows", "grows", "no-grad-fn", "no-grad-fn"],
        """
        net = nn.Linear(3, 3)
        h = torch.zeros(3)
        for i in range(N):
            h = torch.sin(net(h))
            with torch.set_grad_enabled(i > 0):
                loss = h.norm()
            if args.a:
                loss.backward()
        """,
    ),
    "an endless loop that a counter ends, inside of two others": (
        ["grows"] * EVERY,
        """
        for trial in range(2):
            for epoch in range(N):
                losses = []
                i = -1
                while True:
                    i += 1
                    if i == N:
                        break
                    losses.append((w * w).sum())
        """,
    ),
    "a list that is full before the loop ends": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N + 6):
            loss = (w * w).sum()
            if len(kept) < 6:
                kept.append(loss)
        """,
    ),
    "losses of the first iterations alone": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N + 4):
            loss = (w * w).sum()
            if i < 6:
                kept.append(loss)
        """,
    ),
    "the last loss of every ten": (
        ["grows"] * EVERY,
        """
        kept = []
        for i in range(10 * N):
            loss = (w * w).sum()
            loss.backward()
            if (i + 1) % 10 == 0:
                kept.append(loss)
        """,
    ),
    "losses of three iterations that are named one by one": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N):
            loss = (w * w).sum()
            if i == 0 or i == 2 or i == 4:
                kept.append(loss)
        """,
    ),
    "losses of the iterations between two limits": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N + 14):
            loss = (w * w).sum()
            if i > 2 and i < 7:
                kept.append(loss)
        """,
    ),
    "losses of all but the first two iterations": (
        ["grows"] * EVERY,
        """
        kept = []
        for i in range(N + 14):
            loss = (w * w).sum()
            if i not in (0, 1):
                kept.append(loss)
        """,
    ),
    "a leaf that requires a gradient in two iterations, and in no later one": (
        ["clean"] * EVERY,
        """
        seen = set()
        for i in range(N):
            loss = torch.stack([w * 0.5, -torch.ones(3)]).norm()
            w.requires_grad_(i in (1, 3))
            seen.add(loss)
        """,
    ),
    "the best value so far and the newest one hold no more in the end": (
        ["clean"] * EVERY,
        """
        best = torch.tensor(float("inf"))
        before = torch.zeros(3)
        for i in range(N):
            loss = (before + w).square().sum() + 100 * abs(i - 5)
            before = w * 2
            if loss.item() < float(best):
                best = loss
        """,
    ),
    "a backward in the last step over that step's own loss walks nothing of a sum": (
        ["grows"] * EVERY,
        """
        total = 0.0
        for i in range(N):
            loss = (w * i).square().sum()
            total += loss
            if i == N - 1:
                loss.backward()
        """,
    ),
    "a leaf whose gradient has a graph that leads back to it outlives its name": (
        ["grows"] * EVERY,
        """
        for i in range(N):
            x = torch.randn(3).requires_grad_()
            x.square().sum().backward(create_graph=True)
        """,
    ),
    "a leaf whose gradient is cleared leads nowhere": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            x = torch.randn(3).requires_grad_()
            x.square().sum().backward(create_graph=True)
            x.grad = None
        """,
    ),
    "a leaf whose gradient's graph leads to other leaves dies with its name": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            x = torch.randn(3).requires_grad_()
            (x * u).sum().backward(create_graph=True)
            u.grad = None
        """,
    ),
    "fast weights that are leaves anew do not end what create_graph keeps": (
        ["grows"] * EVERY,
        """
        fast = w * 1.0
        for i in range(N):
            (g,) = torch.autograd.grad(fast.norm(), [fast], create_graph=True)
            fast = fast - 0.1 * g
            fast.sum().backward(create_graph=True)
            w.grad = None
        """,
    ),
    "a generator's loop that passes over its second iteration": (
        ["grows"] * EVERY,
        """
        def batches(steps):
            for _ in range(steps):
                yield torch.randn(3)
        total = 0.0
        for k, x in enumerate(batches(N)):
            loss = (w * x).sum()
            if k == 1:
                continue
            loss.backward()
            total += loss
        """,
    ),
    "a generator's loop that keeps its first three losses": (
        ["clean"] * EVERY,
        """
        def batches(steps):
            for _ in range(steps):
                yield torch.randn(3)
        kept = []
        for k, x in enumerate(batches(N)):
            loss = (w * x).sum()
            if k < 3:
                kept.append(loss)
        """,
    ),
    "a list that no epoch empties, beside the sum that each epoch walks": (
        ["grows"] * EVERY,
        """
        net = nn.Linear(3, 3)
        kept = []
        for epoch in range(2):
            total = 0
            for i in range(N):
                out = net(torch.randn(3))
                kept.append(out.square().sum())
                if i < 2:
                    total += out.sum()
            total.backward()
        """,
    ),
    "a list that each epoch empties, beside the sum that it walks": (
        ["clean"] * EVERY,
        """
        net = nn.Linear(3, 3)
        kept = []
        for epoch in range(2):
            total = 0
            kept.clear()
            for i in range(6):
                out = net(torch.randn(3))
                kept.append(out.square().sum())
                if i < 2:
                    total += out.sum()
            total.backward()
        """,
    ),
    "the same part of a leaf, again and again, is a new view each time": (
        ["grows"] * EVERY,
        """
        seen = set()
        for step in range(N):
            seen.add(w[0])
        """,
    ),
    "a sum beside one that each third iteration walks, of which the few steps show one walk": (
        ["grows"] * EVERY,
        """
        kept = walked = 0.0
        for i in range(N):
            if i >= 3:
                values = (w * i).square()
                kept += values.sum()
                walked += values.sum()
                if i % 3 == 2:
                    walked.backward()
                    walked = 0.0
        """,
    ),
    "two sums that each third iteration walks, of which the few steps show one walk": (
        ["clean"] * EVERY,
        """
        first = second = 0.0
        for i in range(N):
            if i >= 3:
                first += (w * i).square().sum()
                second += (w * i).sum()
                if i % 3 == 2:
                    (first + second).backward()
                    first = second = 0.0
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    every_run_is_told(*PROGRAMS[name])

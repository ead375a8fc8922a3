"""Generated programs whose loops pass over iterations, or unroll no sequence, on which the analysis once disagreed.

Each is cut down to what mattered and run under PyTorch with every assignment of its conditions, and with more steps;
the analysis has to agree with all of these runs (``tests/oracle`` says how). Named after what they taught.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import EVERY, every_run_is_told

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a limit of a loop that jumps to the iterations around it": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N + 4):
            loss = (w * i).square().sum()
            if i < 7:
                kept.append(loss)
        """,
    ),
    "a limit at the end of the loop is no limit of what every second iteration keeps": (
        ["grows"] * EVERY,
        """
        optimizer = torch.optim.SGD([w], lr=0.1)
        kept = []
        for i in range(N):
            loss = (w * w).sum()
            optimizer.zero_grad()
            loss.backward()
            if i % 2 == 0:
                kept.append(loss)
            if i == N - 1:
                break
            optimizer.step()
        """,
    ),
    "a sum that goes on beside a backward every few iterations, of which the last is the first": (
        ["grows"] * EVERY,
        """
        total = torch.zeros(())
        kept = []
        for i in range(N):
            if i in (1, 2):
                continue
            loss = (w * w).sum()
            kept.append(loss)
            total += loss
            if i % 3 == 2:
                sum(kept).backward()
                kept = []
        """,
    ),
    "a sum that is walked and begun anew every few iterations": (
        ["clean"] * EVERY,
        """
        total = torch.zeros(())
        for i in range(N):
            total = total + (w * w).sum()
            if i % N == N - 1:
                total.backward()
                total = torch.zeros(())
        """,
    ),
    "a list that one side of an option fills, where the other records nothing": (
        ["grows", "grows", "clean", "clean"],
        """
        option = None
        if args.a:
            option = [1]
        kept = []
        for i in range(N):
            if option is None:
                kept.append((w * i).square().sum())
        """,
    ),
    "every third iteration but the first, in a loop that is not run to its end": (
        ["grows"] * EVERY,
        """
        kept = []
        for i in range(N * 20):
            loss = (w * i).square().sum()
            if i > 0 and i % 3 == 0:
                kept.append(loss)
        """,
    ),
    "a limit that is passed just before the loop's own end": (
        ["clean"] * EVERY,
        """
        kept = []
        for i in range(N + 2):
            loss = (w * i).square().sum()
            if i < 7:
                kept.append(loss)
        """,
    ),
    "a limit that goes along with the number of steps": (
        ["grows"] * EVERY,
        """
        kept = []
        for i in range(N + 2):
            loss = (w * i).square().sum()
            if i < N + 1:
                kept.append(loss)
        """,
    ),
    "a loop that does nothing every second time keeps more with more steps": (
        ["grows"] * EVERY,
        """
        ticks = list(range(N + 1))
        total = 0.0
        for i in iter(lambda: ticks.pop(), 0):
            if i % 2 == 1:
                continue
            total += (w * i).square().sum()
        """,
    ),
    "an endless loop that begins late and keeps every second loss": (
        ["grows"] * EVERY,
        """
        import itertools
        kept = []
        for i in itertools.count():
            if i == N:
                break
            if i < 3:
                continue
            loss = (w * i).square().sum()
            loss.backward()
            if i % 2 == 0:
                kept.append(loss)
        """,
    ),
    "an endless loop that begins late and keeps the loss of one iteration": (
        ["clean"] * EVERY,
        """
        import itertools
        kept = []
        for i in itertools.count():
            if i == N:
                break
            if i < 3:
                continue
            loss = (w * i).square().sum()
            if i == 4:
                kept.append(loss)
        """,
    ),
    "fetching a generator's value is no idle turn, though the body does nothing with it": (
        ["grows"] * EVERY,
        """
        net = nn.Linear(3, 3)
        def losses(steps):
            h = torch.zeros(3)
            for _ in range(steps):
                h = torch.tanh(net(torch.randn(3)) + h)
                yield h.square().mean()
        for loss in losses(N):
            try:
                loss.backward()
            except RuntimeError:
                continue
        """,
    ),
    "a loop with a backward that no iteration comes to unrolls no sequence": (
        ["grows"] * EVERY,
        """
        from collections import deque
        net = nn.Linear(3, 3)
        memory = deque(maxlen=2)
        average = 0.0
        for x in torch.randn(N, 3):
            memory.append(x)
            loss = net(x).square().mean()
            average = 0.9 * average + 0.1 * loss
            if len(memory) > 2:
                loss.backward()
        """,
    ),
    "parts of a leaf that each iteration makes are not the parts of one": (
        ["grows"] * EVERY,
        """
        net = nn.Linear(3, 3)
        kept = []
        for x in [torch.randn(4, 3) for _ in range(N)]:
            kept.extend(net(x).detach().requires_grad_())
        """,
    ),
    "parts of a leaf from before the loop": (
        ["clean"] * EVERY,
        """
        kept = []
        for k in range(3):
            kept.append(w[k])
        """,
    ),
    "what counts down keeps more with more steps, though never the last iterations": (
        ["grows"] * EVERY,
        """
        log = {}
        for step in reversed(range(N)):
            loss = (w * step).square().sum()
            if step < 3:
                continue
            loss.backward()
            log[step] = loss
        """,
    ),
    "all iterations but the last three, however many there are": (
        ["grows"] * EVERY,
        """
        kept = []
        for step in range(N):
            loss = (w * step).square().sum()
            if step < N - 3:
                kept.append(loss)
        """,
    ),
    "all iterations but the last, on an object": (
        ["grows"] * EVERY,
        """
        class Meter:
            total = 0.0
        meter = Meter()
        for step in range(N):
            loss = (w * step).square().sum()
            if step < N - 2:
                meter.total = meter.total + loss
        """,
    ),
    "the first three iterations, however many there are": (
        ["clean"] * EVERY,
        """
        kept = []
        for step in range(N):
            loss = (w * step).square().sum()
            if step < 3:
                kept.append(loss)
        """,
    ),
    "the first iterations, as many as a list has elements": (
        ["clean"] * EVERY,
        """
        rates = [0.1, 0.2, 0.3, 0.4]
        kept = []
        for step in range(N):
            loss = (w * step).square().sum()
            if step < len(rates):
                kept.append(loss * rates[step])
        """,
    ),
    "a sum that is reset up to a limit, and takes every third loss behind it": (
        ["grows"] * EVERY,
        """
        total = 0.0
        for i in range(N):
            if i in (1, 3):
                continue
            loss = (w * i).square().sum()
            if i % 3 == 0:
                total += loss
            loss.backward()
            if i < 4:
                total = 0.0
        """,
    ),
    "a variable that is reset up to a limit, and takes every third loss behind it": (
        ["clean"] * EVERY,
        """
        newest = 0.0
        for i in range(N):
            if i in (1, 3):
                continue
            loss = (w * i).square().sum()
            if i % 3 == 0:
                newest = loss
            if i < 4:
                newest = 0.0
        """,
    ),
    "the newest of every third loss and the best one, behind a limit": (
        ["clean"] * EVERY,
        """
        pair = {}
        for i in range(N):
            loss = (w * i).square().sum()
            if i % 3 == 0:
                pair["newest"] = loss
            if i % 4 == 0:
                pair["other"] = loss
            if i < 4:
                pair.clear()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    every_run_is_told(*PROGRAMS[name])

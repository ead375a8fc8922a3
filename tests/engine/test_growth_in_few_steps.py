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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    every_run_is_told(*PROGRAMS[name])

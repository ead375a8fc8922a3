"""Generated programs on which the analysis and PyTorch disagreed: whether a solver evaluates its closure again.

LBFGS does not where the first gradient is zero. Each program is cut down to what mattered and run under PyTorch.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import EVERY, every_run_is_told

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a solver asks once where the first gradient is zero": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            base = -w
            solver = torch.optim.LBFGS([w], lr=0.1, max_iter=3)
            def closure():
                solver.zero_grad()
                loss = (w + base)[0]
                loss.backward()
                return loss
            solver.step(closure)
        """,
    ),
    "a solver none of whose parameters has a gradient asks once": (
        ["clean"] * EVERY,
        """
        solver = torch.optim.LBFGS([w], lr=0.1, max_iter=3)
        w.requires_grad_(False)
        for i in range(N):
            base = u * w
            def closure():
                solver.zero_grad()
                loss = base.mean()
                loss.backward()
                return loss
            solver.step(closure)
        """,
    ),
    "a solver that starts at its goal asks once": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            base = u @ w
            solver = torch.optim.LBFGS([w], lr=0.1, max_iter=3)
            def closure():
                solver.zero_grad()
                loss = F.mse_loss(w + 0.0 * base, w)
                loss.backward()
                return loss
            solver.step(closure)
        """,
    ),
    "a dead unit has no gradient for a solver to go on with": (
        ["clean"] * EVERY,
        """
        w.data[0] = -1.0
        base = F.relu(w)
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        def closure():
            solver.zero_grad()
            loss = (base * u)[0]
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a dead unit that is multiplied by zero leaves the gradient of what it is added to": (
        ["second-backward"] * EVERY,
        """
        base = F.relu(w)
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        def closure():
            solver.zero_grad()
            loss = (u + 0.0 * base)[0]
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "each element of a choice between two graphs has a gradient from one of them": (
        ["second-backward"] * EVERY,
        """
        base = w.sigmoid()
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        def closure():
            solver.zero_grad()
            loss = torch.where(torch.tensor([True, False, True]), base, w)[0]
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a solver asks again where parts of other parameters have a gradient beside those that may have none": (
        ["second-backward"] * EVERY,
        """
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        base = F.relu(w)
        def closure():
            solver.zero_grad()
            loss = torch.cat([base[:1], u[1:]]).sum()
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a solver does not ask again where a leaf was zeroed: of zeros the gradient is zero": (
        ["clean"] * EVERY,
        """
        solver = torch.optim.LBFGS([w], lr=0.1, max_iter=3)
        with torch.no_grad():
            w.zero_()
        base = torch.tanh(w)
        def closure():
            solver.zero_grad()
            loss = (base ** 2).sum()
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "nor of the difference of a value to a choice of the same value": (
        ["clean"] * EVERY,
        """
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        base = u + 0.0 * w
        def closure():
            solver.zero_grad()
            loss = F.mse_loss(torch.where(torch.tensor([True, False, True]), base, u), u)
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "nor of the sum of a softmax, which is one": (
        ["clean"] * EVERY,
        """
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        base = F.softmax(u, dim=0)
        def closure():
            solver.zero_grad()
            loss = (base + 0.0 * w).sum()
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a parameter that was zeroed beside others ends no solver": (
        ["second-backward"] * EVERY,
        """
        with torch.no_grad():
            u.zero_()
        solver = torch.optim.LBFGS([w, u], lr=0.1, max_iter=3)
        base = torch.exp(w) + u
        def closure():
            solver.zero_grad()
            loss = (base * base).sum()
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a sum of itself, again and again, is looked through once": (
        ["second-backward"] * EVERY,
        """
        solver = torch.optim.LBFGS([w], lr=0.1, max_iter=2)
        base = F.relu(w)
        """
        + "base = base + base\n        " * 40
        + """
        def closure():
            solver.zero_grad()
            loss = base.sum()
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    every_run_is_told(*PROGRAMS[name])

"""No program leaves anything behind: what one writes to a library's class or module, the next one does not find."""

from __future__ import annotations

import textwrap

import pytest

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

TRAINS = """
    import torch
    from torch import *
    from elsewhere import config, model

    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        loss = net(torch.ones(2, 3)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if config.last:
            print(config.last)
    """
WRITES = {
    "a method of a layer": """
        import torch

        def forward(self, x):
            return x.detach()

        torch.nn.Linear.forward = forward
        """,
    "a method of the class of an object": """
        import torch

        def quiet(module):
            module.__class__.forward = lambda self, x: x.detach()

        quiet(torch.nn.Linear(3, 1))
        """,
    "an attribute of every module": """
        import torch
        setattr(torch.nn.Module, "__call__", lambda self, x: x.detach())
        """,
    "an optimizer's step, with a test that fails": """
        import torch
        torch.optim.SGD.step = lambda self: None
        torch.optim.SGD.zero_grad = lambda self: None
        raise SystemExit(1)
        """,
    "a name of a library that is not known": """
        import torch
        from elsewhere import config
        w = torch.ones(1, requires_grad=True)
        config.last = (w * w).sum()
        """,
    "a name that a star brings": """
        from torch import *
        float32.forward = 3
        """,
}


def found(code: str) -> list[tuple[str, int]]:
    source = SourceFile("train.py", textwrap.dedent(code))
    return [(finding.code, finding.range.line) for finding in check(source, FileProvider()).findings]


@pytest.mark.parametrize("code", WRITES.values(), ids=WRITES)
def test_what_a_program_writes_is_gone_after_it(code: str) -> None:
    assert found(TRAINS) == []
    found(code)
    assert found(TRAINS) == []


def test_what_a_program_writes_holds_while_it_runs() -> None:
    patched = WRITES["a method of a layer"] + textwrap.indent(
        textwrap.dedent("""
            net = torch.nn.Linear(3, 1)
            net(torch.ones(2, 3)).sum().backward()
            """),
        " " * 8,
    )
    assert [code for code, _ in found(patched)] == ["LG301"]
    assert [code for code, _ in found(patched)] == ["LG301"]

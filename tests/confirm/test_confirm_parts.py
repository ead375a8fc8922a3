"""The parts by themselves: the source pass, stores, findings against runs, the proof, messages."""

from __future__ import annotations

import ast
import importlib
import string
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from loopgrad.confirm.proof import compare
from loopgrad.confirm.static import status_of
from loopgrad.confirm.stores import Stores
from loopgrad.confirm.verdict import Verdict
from loopgrad.messages import confirm_en, confirm_zh
from loopgrad.model import Finding, Message, Range

PROBE = Path(importlib.import_module("loopgrad.confirm").__file__ or "").parent / "probe"


@pytest.fixture
def instrument() -> ModuleType:
    return importlib.import_module("loopgrad.confirm.probe.instrument")


def calls(log: list[tuple[str, Any]]) -> dict[str, Any]:
    def call(name: str, result: Any) -> Any:
        def logged(argument: Any) -> Any:
            log.append((name, argument))
            return argument if name == "back" else result

        return logged

    return {f"__lg_{name}__": call(name, False) for name in ("mark", "back", "enter", "tick", "leave")}


def test_source_pass_keeps_meaning_and_lines(instrument: ModuleType) -> None:
    source = '''"""Doc."""
from __future__ import annotations
import sys

def f(n):
    """Doc."""
    total = 0
    for i in range(n):
        if i == 1:
            continue
        elif i == 4:
            break
        total += i
    else:
        total = -total
    while total > 100:
        return
    return total

def g():
    for x in (1, 2):
        yield x

def raises():
    return (
        1 /
        0
    )

results = [f(3), f(9), list(g()), raises.__doc__, f.__doc__]
match results[0]:
    case -2:
        matched = True
'''
    log: list[tuple[str, Any]] = []
    scope: dict[str, Any] = calls(log)
    exec(instrument.compiled(source, "x.py"), scope)
    assert scope["results"] == [-2, 5, [1, 2], None, "Doc."]
    assert scope["matched"] and scope["__doc__"] == "Doc."
    assert ("enter", ("x.py", 8, 15)) in log and ("tick", ("x.py", 8, 15)) in log
    plain: dict[str, Any] = {}
    exec(source, plain)
    lines = []
    for namespace in (plain, scope):
        with pytest.raises(ZeroDivisionError) as caught:
            namespace["raises"]()
        lines.append(traceback.extract_tb(caught.value.__traceback__)[-1].lineno)
    assert lines[0] == lines[1]


def test_source_pass_on_this_package(instrument: ModuleType) -> None:
    for path in sorted(PROBE.parents[1].rglob("*.py")):
        assert instrument.compiled(path.read_bytes(), str(path))


def test_probe_imports_only_stdlib_and_torch() -> None:
    for path in PROBE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                top = name.partition(".")[0]
                assert top in sys.stdlib_module_names or top in ("torch", "numpy"), (path.name, name)


def test_stores(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "class A:\n def f(self):\n  self.h = 1\n  self.rows['a'].append(2)\n  self.rows['b'].append(3)\n"
        "  self.h, x = 2, 3\n  self.buffer.copy_(x)\n  setattr(self, 'late', x)\n  self.rows = {}\n"
    )
    stores = Stores([str(path)])
    ran = [(str(path), line) for line in (9, 8, 7, 5, 4, 3)]

    def line(name: str) -> int | None:
        place = stores.find(name, ran)
        return place and place[1]

    assert line("model.h") == 3  # line 6 has not run
    assert line("agent.rows['a'][0]") == 4
    assert line("agent.rows['b']") == 5
    assert line("net.buffer") == 7
    assert line("net.late") == 8
    assert line("nothing") is None


def finding(outcome: str, line: int) -> Finding:
    where = Range(line, 1, line, 9)
    return Finding("LG101", "x", "error", "certain", outcome, Message.of("x"), "/a.py", where)


def test_findings_against_a_run() -> None:
    reason = Message.of("confirm.reason.unknown")
    seen = Verdict("confirmed", reason, "second-backward", built_at=("/a.py", 3))
    assert status_of(finding("second-backward", 3), seen) == "confirmed"
    assert status_of(finding("second-backward", 4), seen) == "not reached"
    assert status_of(finding("grows", 3), seen) == "not reached"
    clean = Verdict("clean", reason, complete=True)
    assert status_of(finding("grows", 3), clean) == "refuted"
    clean.redirected = True
    assert status_of(finding("grows", 3), clean) == "not reached"


def held(key: str, reached: bool, gradients: int) -> dict[str, Any]:
    return {"key": key, "name": "net.w" + key, "reached": reached, "stepped": 3, "had_gradient": gradients}


def test_proof() -> None:
    reason = Message.of("confirm.reason.unknown")
    before = Verdict("confirmed", reason, device="cpu", losses=["0x1.0p-1"])
    before.parameters = [held("1", True, 1), held("2", False, 0), held("3", True, 0)]
    after = Verdict("clean", reason, device="cpu", losses=["0x1.0p-1"])
    after.parameters = [held("1", True, 3), held("2", False, 0), held("3", True, 3)]
    proof = compare(before, after, {"detach"})
    assert proof.proven and proof.still_trained == ["net.w1", "net.w3"] and proof.first_loss_equal
    after.losses = ["0x1.0000000001p-1"]
    assert not compare(before, after, {"detach"}).proven
    assert compare(before, after, {"recompute"}).proven
    after.parameters[2] = held("3", False, 0)
    assert compare(before, after, {"recompute"}).no_longer_trained == ["net.w3"]


def test_messages_agree() -> None:
    assert confirm_en.MESSAGES.keys() == confirm_zh.MESSAGES.keys()
    for key, text in confirm_en.MESSAGES.items():
        fields = [{name for _, name, _, _ in string.Formatter().parse(each) if name}
                  for each in (text, confirm_zh.MESSAGES[key])]  # fmt: skip
        assert fields[0] == fields[1], key

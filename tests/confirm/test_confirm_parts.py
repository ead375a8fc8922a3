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

from loopgrad.confirm import minimal
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


def finding(path: Path, outcome: str, line: int, iteration: int | None = None) -> Finding:
    where = Range(line, 1, line, 9)
    return Finding(
        "LG101", "x", "error", "certain", outcome, Message.of("x"), str(path), where, iteration=iteration
    )


def test_findings_against_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("a = 1\nb = 2\nc = (\n    3\n)\nd = 4\n")
    reason = Message.of("confirm.reason.unknown")
    seen = Verdict("confirmed", reason, "second-backward", built_at=(str(path), 3))
    assert status_of(finding(path, "second-backward", 3), seen) == "confirmed"
    assert status_of(finding(path, "second-backward", 4), seen) == "not reached"
    assert status_of(finding(path, "grows", 3), seen) == "not reached"


def test_a_run_refutes_only_what_it_came_to(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("a = 1\nb = 2\nc = (\n    3\n)\nd = 4\n")
    clean = Verdict("clean", Message.of("confirm.reason.unknown"), complete=True, limit=8)
    clean.ran = [(str(path), 3), (str(path), 1)]
    assert status_of(finding(path, "grows", 1), clean) == "refuted"
    assert status_of(finding(path, "grows", 4), clean) == "refuted"  # a part of the statement in line 3
    assert status_of(finding(path, "grows", 6), clean) == "not reached"  # it never ran
    assert status_of(finding(path, "grows", 1, 8), clean) == "refuted"
    assert status_of(finding(path, "grows", 1, 9), clean) == "not reached"  # the run ended before
    assert status_of(finding(path, "none", 1), clean) == "not reached"
    for name in ("redirected", "shape_only"):
        setattr(clean, name, True)
        assert status_of(finding(path, "grows", 1), clean) == "not reached"
        setattr(clean, name, False)
    clean.complete = False
    assert status_of(finding(path, "grows", 1), clean) == "not reached"


def held(key: str, history: str, *, reached: bool = True, pending: bool = False) -> dict[str, Any]:
    return {"key": key, "name": "net.w" + key, "reached": reached, "history": history, "pending": pending}


def proof_of(
    before: list[dict[str, Any]], after: list[dict[str, Any]], *losses: str, kind: str = "detach"
) -> Any:
    reason = Message.of("confirm.reason.unknown")
    faulty = Verdict("confirmed", reason, device="cpu", losses=[losses[0]], parameters=before)
    fixed = Verdict("clean", reason, device="cpu", losses=[losses[-1]], parameters=after)
    return compare(faulty, fixed, {kind})


def test_proof() -> None:
    before = [held("1", "1", pending=True), held("2", "", reached=False), held("3", "", pending=True)]
    after = [held("1", "111"), held("2", "", reached=False), held("3", "111")]
    proof = proof_of(before, after, "0x1.0p-1")
    assert proof.proven and proof.still_trained == ["net.w1", "net.w3"] and proof.first_loss_equal
    # a cut keeps the first loss to the last bit; what computes anew may round otherwise
    assert not proof_of(before, after, "0x1.0p-1", "0x1.0000000001p-1").proven
    assert proof_of(before, after, "0x1.0p-1", "0x1.0000000001p-1", kind="recompute").proven
    assert not proof_of(before, after, "0x1.0p-1", "0x1.1p-1", kind="recompute").proven


@pytest.mark.parametrize(
    "before, pending, after, trained",
    [
        ("1", True, "11111111", True),
        ("1", True, "10000000", False),  # the fix cuts it off from the second step on
        ("1", True, "11000000", False),
        ("", True, "00000000", False),
        ("1", False, "10101010", True),  # trained in every other step, before and after
        ("1010", True, "10101010", True),
        ("1110", True, "10101010", False),
        ("1", True, "", False),
        ("", True, "", True),  # a wrapper, around the optimizer that steps
    ],
)
def test_still_trained_is_asked_step_by_step(before: str, pending: bool, after: str, trained: bool) -> None:
    proof = proof_of([held("1", before, pending=pending)], [held("1", after)], "0x1.0p-1")
    assert (proof.still_trained == ["net.w1"]) == trained
    assert (proof.no_longer_trained == []) == trained


UNUSED = '''"""A script."""
import torch


def unused(x):
    """Never called."""
    return x + 1


@torch.no_grad()
def unused_too():
    pass


net = torch.nn.Linear(3, 3)
h = torch.zeros(2, 3)
for i in range(20):
    if i > 100:
        print("never")
        print("never")
    elif h is None: print("one line")
    h = net(torch.randn(2, 3) + h).tanh()
    h.sum().backward()
'''


def test_report_leaves_out_what_did_not_run() -> None:
    ran = {15, 16, 17, 18, 22, 23}
    found = {
        "code": "LG101", "name": "loop-carried-graph", "severity": "error", "certainty": "certain",
        "outcome": "second-backward", "carriers": ["h"], "message": "'h' carries",
    }  # fmt: skip
    facts = {
        "version": "1", "torch": "2", "python": "3", "device": "cpu", "steps": 8, "reason": "nothing went wrong",
        "files": ["/x/helper.py"],
    }  # fmt: skip
    text = minimal.report("train.py", UNUSED, ran, found, facts)
    assert "unused" not in text and text.count("never") == 0 and "import torch" in text
    line = next(
        int(words[5:].rstrip(":")) for words in [text.splitlines()[3][text.splitlines()[3].index("line ") :]]
    )
    assert text.splitlines()[line - 1] == "    h = net(torch.randn(2, 3) + h).tanh()"
    for said in ("torch 2", "LG101", "'h' carries", "nothing went wrong", "helper.py"):
        assert said in text
    compile(text, "report.py", "exec")


def test_report_keeps_what_the_finding_needs() -> None:
    """What did not run is kept if the check would not report the finding without it."""
    kept = minimal.reduced(
        "a = 1\nif a:\n    b = 1\nelse:\n    c = 2\n", {1, 2, 3}, lambda text: 1 if "c" in text else None
    )
    assert "c = 2" in kept


def test_messages_agree() -> None:
    assert confirm_en.MESSAGES.keys() == confirm_zh.MESSAGES.keys()
    for key, text in confirm_en.MESSAGES.items():
        fields = [{name for _, name, _, _ in string.Formatter().parse(each) if name}
                  for each in (text, confirm_zh.MESSAGES[key])]  # fmt: skip
        assert fields[0] == fields[1], key

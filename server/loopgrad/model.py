"""What an analysis says: findings, their story, and the edits that mend them.

Everything here is plain data, shared by the rules, the fixes, the reports and the language server.
Lines and columns count from 1; columns count characters (Unicode code points), never bytes; an
``end`` is exclusive. Paths are as the caller gave them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

SEVERITIES = ("error", "warning", "information")

#: Outcomes that PyTorch shows by an exception, see the table of outcomes in the documentation.
RAISING = frozenset({"second-backward", "inplace-version", "no-grad-fn", "leaf-inplace"})


@dataclass(frozen=True, order=True)
class Range:
    """A stretch of a file: from ``(line, column)`` to the exclusive ``(end_line, end_column)``."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Message:
    """A sentence by its catalogue key, so that it can be said in the reader's language.

    ``args`` fills the catalogue's template by name.
    """

    key: str
    args: tuple[tuple[str, Any], ...] = ()

    @staticmethod
    def of(key: str, **args: Any) -> Message:
        return Message(key, tuple(sorted(args.items())))


@dataclass(frozen=True)
class TraceStep:
    """One sentence of the story: what happened where, and in which iteration (from 1, or None)."""

    role: str  # built, freed, carried, reached, modified, retained, cut, stored
    path: str
    range: Range
    iteration: int | None
    message: Message


@dataclass(frozen=True)
class Step:
    """One primitive edit that a fix is made of. See ``loopgrad.fixes.edits`` for the operations.

    ``op`` names the operation, ``range`` the source it works on, ``text`` what it writes,
    ``other`` a second place where the operation needs one (the end of a block, a destination).
    """

    op: str
    path: str
    range: Range
    text: str = ""
    other: Range | None = None


@dataclass(frozen=True)
class FixRequest:
    """A fix as plain data: asked for by a rule, turned into text and checked by ``loopgrad.fixes``."""

    kind: str  # detach, no_grad, item, move-into-loop, sum-losses, reorder, recompute, ...
    title: Message
    steps: tuple[Step, ...]
    #: False where the fix may be offered but never applied unasked.
    preferable: bool = True


class Later(Sequence[FixRequest]):
    """Requests that are made when somebody asks for them: a check that fixes nothing does not pay for them.

    They are made from the tree that was analysed, which does not leave its process: another one finds none.
    """

    def __init__(self, make: Callable[[], Sequence[FixRequest]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[FixRequest, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, index: int) -> FixRequest: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FixRequest, ...]: ...
    def __getitem__(self, index: int | slice) -> FixRequest | tuple[FixRequest, ...]:
        return self._made[index]

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[type[tuple[()]], tuple[()]]:
        return (tuple, ())


@dataclass(frozen=True)
class Edit:
    path: str
    range: Range
    new_text: str


@dataclass(frozen=True)
class Fix:
    """A fix that has been applied in memory, analysed again and found to do what it says."""

    title: Message
    kind: str
    preferred: bool
    stops_training: tuple[str, ...]
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class WitnessStep:
    """One fact of the execution that shows a certain finding.

    ``condition``: the unknown condition at ``range`` came out true (1) or false (0) when it was first met.
    ``loop``: the loop at ``range`` was in its ``value``-th iteration when the outcome showed.
    """

    kind: str
    path: str
    range: Range
    value: int


@dataclass
class Finding:
    code: str  # LG101
    name: str  # loop-carried-graph
    severity: str
    certainty: str  # certain, possible
    outcome: str
    message: Message
    path: str
    range: Range
    iteration: int | None = None
    loop_line: int | None = None
    carriers: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    #: What could mend it, best first, not yet checked.
    requests: Sequence[FixRequest] = ()
    #: Filled by ``loopgrad.fixes.offer``; empty until asked for.
    fixes: tuple[Fix, ...] = ()
    #: Where the traceback of a raising outcome points (the ``.backward()``), or None.
    raised_at: tuple[str, Range] | None = None
    #: Of a certain finding: an execution that shows it. Other results of its conditions show it too.
    witness: tuple[WitnessStep, ...] = ()

    @property
    def key(self) -> tuple:
        """What makes two findings the same finding: code, place and outcome."""
        return (self.code, self.path, self.range.line, self.range.column)


@dataclass(frozen=True)
class Partial:
    """A file that was analysed in part only, with the line where the analysis stopped and why."""

    path: str
    line: int
    reason: Message


@dataclass(frozen=True)
class Problem:
    """A file that could not be analysed at all: unreadable, not Python, not text."""

    path: str
    line: int
    message: Message


@dataclass
class FileResult:
    """All that one file's analysis said."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    partial: list[Partial] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: Parameters that an optimizer steps and a backward reaches, each as "file:line:name".
    trained: frozenset[str] = frozenset()
    #: Those of them that are trained whatever the unknown conditions are.
    always_trained: frozenset[str] = frozenset()
    #: Other exceptions that end the program on some path (``AttributeError``): a fix may not bring one.
    fails: frozenset[str] = frozenset()

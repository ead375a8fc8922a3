"""One file's check: run the engine, let the rules read what it saw, and settle what they say together."""

from __future__ import annotations

from collections.abc import Iterable

from loopgrad.analysis.explore import analyse
from loopgrad.analysis.shared import FileRecord, record_of
from loopgrad.analysis.verdicts import Analysis, Verdict
from loopgrad.model import FileResult, Finding, Message, Partial
from loopgrad.source import Provider, SourceFile
from loopgrad.source.cell_order import run_order

from . import (
    lg101,
    lg102,
    lg103,
    lg104,
    lg201,
    lg202,
    lg203,
    lg204,
    lg205,
    lg301,
    lg302,
    lg303,
    lg304,
    lg401,
    lg402,
)
from .catalogue import RULES
from .context import Context
from .deep import run_deep
from .precedence import settled

#: The rules in the order of their codes; each reads a verdict and says a finding or None.
READERS = (
    lg101, lg102, lg103, lg104, lg201, lg202, lg203, lg204, lg205, lg301, lg302, lg303, lg304, lg401, lg402,
)  # fmt: skip

#: The engine's reasons for stopping that have a sentence of their own.
_REASONS = frozenset({"steps", "depth", "import"})


def check(source: SourceFile, provider: Provider, *, select: frozenset[str] | None = None) -> FileResult:
    """The findings of one file. ``select`` names the rules to run, None those that are on by default."""
    if select is None:
        select = frozenset(code for code, rule in RULES.items() if rule.default_on)
    notebook = source.notebook
    cell_of = (lambda line: source.place(line)[0] or 0) if notebook is not None else None
    tree = run_order(notebook, source.tree)
    record = record_of(source) if tree is source.tree else FileRecord(source.path, tree)
    analysis = run_deep(lambda: analyse(record, provider, cell_of))
    context = Context(source, provider)
    result = FileResult(source.path)
    verdicts = analysis.verdicts
    if notebook is not None and (notebook.errors or tree is not source.tree):
        verdicts = [doubted for each in verdicts if (doubted := _doubted(each)) is not None]
    result.findings = findings(verdicts, context, select)
    result.partial = _partial(analysis)
    result.trained = frozenset(analysis.trained)
    result.always_trained = frozenset(analysis.always)
    result.fails = frozenset(analysis.fails)
    return result


def _doubted(verdict: Verdict) -> Verdict | None:
    """In a notebook with a cell that cannot be read, or whose cells ran in an order of which one is assumed: what
    went on in between is not known, so nothing is certain.
    """
    seen = verdict.observation
    if seen.what == "no-graph" and "cut" not in seen.facts:
        return None
    return Verdict(seen, False)


def findings(verdicts: Iterable[Verdict], context: Context, select: frozenset[str]) -> list[Finding]:
    """What all rules say, one finding a cause, by line; then those of the selected rules.

    All rules speak first: which one a cause belongs to does not depend on which are switched on.
    """
    said: list[tuple[Finding, Verdict]] = []
    for verdict in verdicts:
        for reader in READERS:
            found = reader.read(verdict, context)
            if found is not None:
                said.append((found, verdict))
                break
    kept = [found for found in settled(said, context) if found.code in select]
    own = context.source.path
    return sorted(kept, key=lambda found: (found.path != own, found.path, found.range, found.code))


def _partial(analysis: Analysis) -> list[Partial]:
    notes = []
    for path, line, reason in analysis.partial:
        key = reason if reason in _REASONS else "other"
        note = Partial(path, line, Message.of(f"partial.{key}"))
        if note not in notes:
            notes.append(note)
    return notes

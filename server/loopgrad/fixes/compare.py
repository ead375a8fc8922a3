"""Two analyses, before and after a fix: what is gone, what is new, what is no longer trained.

Lines move under an edit, so positions of the first analysis are carried through the edits before they are
compared; what an edit took elsewhere is known again by its statement's text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from loopgrad.model import RAISING, Edit, FileResult, Finding, Range

from .locate import statement_holding
from .text import Document, EditError, Splice, as_splices, document, shifted


@dataclass(frozen=True)
class Change:
    """A file before and after, with the splices between."""

    old: Document
    new: Document
    splices: Sequence[Splice]

    @staticmethod
    def of(old: str, new: str, edits: Iterable[Edit]) -> Change:
        before = document(old)
        return Change(before, document(new), as_splices(before, edits))

    def lines(self, range_: Range) -> set[int]:
        """The lines where what started here may start now: what is put in may lie before it or behind."""
        try:
            start = self.old.offset(range_.line, range_.column)
        except EditError:
            return {range_.line}
        return {self.new.line_of(shifted(self.splices, start, after=after)) for after in (False, True)}

    def line(self, line: int) -> int:
        if not 1 <= line <= len(self.old.starts):
            return line
        return self.new.line_of(shifted(self.splices, self.old.starts[line - 1], after=True))

    @property
    def changed(self) -> set[int]:
        """The lines of the new text that the edits wrote, or closed up over what they took out."""
        lines: set[int] = set()
        delta = 0
        for splice in self.splices:
            start = splice.start + delta
            end = start + len(splice.text)
            first, last = self.new.line_of(start), self.new.line_of(end)
            written = self.new.text[start:end]
            # Whole lines put in end where the next, untouched line starts.
            if written[-1:] in ("\n", "\r") and last > first:
                last -= 1
            # Lines put in behind another start with that one's end.
            if written[:1] in ("\n", "\r") and last > first:
                first += 1
            lines.update(range(first, last + 1))
            delta += len(splice.text) - (splice.end - splice.start)
        return lines


@dataclass(frozen=True)
class Verdict:
    """``lost``: what is no longer trained. ``beyond``: independent findings that were hidden before."""

    accepted: bool
    lost: tuple[str, ...] = ()
    beyond: tuple[Finding, ...] = field(default=())


def judge(finding: Finding, before: FileResult, after: FileResult, changes: dict[str, Change]) -> Verdict:
    """Whether a fix does what it says, by the findings before and after it.

    A program that raises ends there. Mended, it runs on to what comes next: an independent finding that was
    out of reach until now is not the fix's doing, unless its story touches a line that the fix wrote or the
    variables that the finding was about, or it ends where the finding did, no iteration later.
    """
    if not after.fails <= before.fails:
        return Verdict(False)
    if len(after.partial) > len(before.partial) or len(after.problems) > len(before.problems):
        return Verdict(False)
    unmatched, new = _matched(before.findings, after.findings, changes)
    if not any(each is finding or each.key == finding.key for each in unmatched):
        return Verdict(False)
    severe = [each for each in new if each.severity != "information"]
    if severe and finding.outcome not in RAISING:
        return Verdict(False)
    if any(_caused(each, finding, changes) for each in severe):
        return Verdict(False)
    # What an unknown condition decides counts too: trained on either side before, and on one alone after.
    gone = (
        *lost(before.trained, after.trained, changes),
        *lost(before.always_trained, after.always_trained, changes),
    )
    return Verdict(True, tuple(dict.fromkeys(gone)), tuple(severe))


def _caused(new: Finding, finding: Finding, changes: dict[str, Change]) -> bool:
    if set(new.carriers) & set(finding.carriers) or _as_early(new, finding, changes):
        return True
    places = [(new.path, new.range), *((step.path, step.range) for step in new.trace)]
    if new.raised_at:
        places.append(new.raised_at)
    written = {path: change.changed for path, change in changes.items()}
    return any(range_.line in written.get(path, ()) for path, range_ in places)


def _as_early(new: Finding, finding: Finding, changes: dict[str, Change]) -> bool:
    """Whether the same call still raises, no iteration later: another value on the way to it is named now."""
    if new.raised_at is None or finding.raised_at is None or new.raised_at[0] != finding.raised_at[0]:
        return False
    path, range_ = finding.raised_at
    lines = changes[path].lines(range_) if path in changes else {range_.line}
    return new.raised_at[1].line in lines and (new.iteration or 0) <= (finding.iteration or 0)


def _matched(
    old: Sequence[Finding], new: Sequence[Finding], changes: dict[str, Change]
) -> tuple[list[Finding], list[Finding]]:
    """Pairs the findings of both analyses; returns the old ones that are gone and the new ones that came."""
    left, right = list(old), list(new)

    def pair(same: _Same) -> None:
        for each in list(right):
            partner = next((other for other in left if other.code == each.code and same(other, each)), None)
            if partner is not None:
                left.remove(partner)
                right.remove(each)

    pair(_Same(changes, by_text=False))
    pair(_Same(changes, by_text=True))
    return left, right


@dataclass(frozen=True)
class _Same:
    changes: dict[str, Change]
    by_text: bool

    def __call__(self, old: Finding, new: Finding) -> bool:
        if old.path != new.path:
            return False
        change = self.changes.get(old.path)
        if change is None:
            return old.range.line == new.range.line
        if self.by_text:
            return statement_text(change.old, old.range) == statement_text(change.new, new.range)
        return new.range.line in change.lines(old.range)


def statement_text(doc: Document, range_: Range) -> str:
    """The statement at a range in one line, of a compound one the head: how it is known again elsewhere."""
    try:
        place = statement_holding(doc, *doc.span(range_))
        end = place.end
        body = getattr(place.node, "body", None)
        if isinstance(body, list):
            end = doc.node_span(body[0])[0]
        return " ".join(doc.text[place.start : end].split())
    except EditError:
        return doc.line_text(range_.line).strip() if 1 <= range_.line <= len(doc.starts) else ""


def lost(before: frozenset[str], after: frozenset[str], changes: dict[str, Change]) -> tuple[str, ...]:
    """The names that were trained and are not any more; entries are ``file:line:name``."""
    missing = Counter(_moved(entry, changes) for entry in before)
    missing.subtract(Counter(after))
    gone = [entry for entry, count in missing.items() if count > 0]
    # What an edit moved to where its line cannot be foretold is known by file and name.
    spare = Counter(_nameless(entry) for entry, count in missing.items() if count < 0)
    names = []
    for entry in sorted(gone):
        if spare[_nameless(entry)] > 0:
            spare[_nameless(entry)] -= 1
        else:
            names.append(_split(entry)[2])
    return tuple(dict.fromkeys(names))


def _split(entry: str) -> tuple[str, int, str]:
    path, line, name = entry.rsplit(":", 2) if entry.count(":") >= 2 else ("", "0", entry)
    return path, int(line) if line.isdigit() else 0, name


def _nameless(entry: str) -> tuple[str, str]:
    path, _, name = _split(entry)
    return path, name


def _moved(entry: str, changes: dict[str, Change]) -> str:
    path, line, name = _split(entry)
    change = changes.get(path)
    return f"{path}:{change.line(line)}:{name}" if change and line else entry

"""What changed between two texts, as splices that are small and lie where a reader would put them.

Lines are matched first, by what is on them without their indentation, so that lines that move in or out of a
block change by that alone. Within lines that differ, words and signs are matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from .text import Splice

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_TOKEN = re.compile(r"\w+|\r\n|.", re.DOTALL)

#: What differs over more lines, or more words, is replaced as one: matching takes the square of their number.
MOST = 1000


def difference(old: str, new: str) -> list[Splice]:
    """The splices that make ``new`` of ``old``.

    >>> difference("x = a - b\\n", "x = (a - b).detach()\\n")
    [Splice(start=4, end=4, text='('), Splice(start=9, end=9, text=').detach()')]
    """
    before, after = _LINE.findall(old), _LINE.findall(new)
    splices: list[Splice] = []
    offset = 0
    for same, left, right in _matched([line.strip() for line in before], [line.strip() for line in after]):
        pairs = list(zip(before[left], after[right])) if same else [
            ("".join(before[left]), "".join(after[right]))
        ]  # fmt: skip
        for was, is_ in pairs:
            splices += _tokens_between(was, is_, offset)
            offset += len(was)
    return splices


def _tokens_between(old: str, new: str, offset: int) -> Iterator[Splice]:
    if old == new:
        return
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    for same, left, right in _matched(before, after):
        taken = len("".join(before[left]))
        if not same:
            yield Splice(offset, offset + taken, "".join(after[right]))
        offset += taken


def _matched(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, slice, slice]]:
    """The stretches of both that are the same, and those between."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    yield True, slice(0, start), slice(0, start)
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    if min(len(left), len(right)) > MOST:
        yield False, slice(start, len(before) - end), slice(start, len(after) - end)
    else:
        for op, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            yield op == "equal", slice(start + i1, start + i2), slice(start + j1, start + j2)
    yield True, slice(len(before) - end, len(before)), slice(len(after) - end, len(after))

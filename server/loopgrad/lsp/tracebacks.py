"""Reading a pasted traceback: its frames, and the outcome that its last lines speak of.

Both forms that users paste are read: Python's own (``File "train.py", line 9, in main``) and IPython's
(``File ~/train.py:9, in main()``, ``train.py in main()`` with an arrow at the line, ``Cell In[3], line 9``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PYTHON = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_IPYTHON = re.compile(r"File (?P<path>[^\s\":][^\n\":]*?\.py):(?P<line>\d+)")
_CELL = re.compile(
    r"(?:Cell |Input )In ?\[(?P<cell>\d+)\],? (?:in <cell line: (?P<old>\d+)>|line (?P<line>\d+))"
)
_OLD_CELL = re.compile(r"<ipython-input-(?P<cell>\d+)-\w+>(?:\"?, line (?P<line>\d+))?")
_ARROW = re.compile(r"^-+>\s*(?P<line>\d+)\s(?P<text>.*)$", re.MULTILINE)

#: What PyTorch says, by the outcome.
_OUTCOMES = (
    ("second-backward", "backward through the graph a second time"),
    ("second-backward", "access saved tensors after they have already been freed"),
    ("inplace-version", "modified by an inplace operation"),
    ("no-grad-fn", "does not require grad and does not have a grad_fn"),
    ("leaf-inplace", "a leaf variable that requires grad"),
    ("leaf-inplace", "a view of a leaf variable that requires grad"),
)


@dataclass(frozen=True)
class Frame:
    """One frame. ``path`` is empty for a notebook's cell; ``text`` is its source line, if it is given."""

    path: str
    line: int
    text: str = ""


@dataclass(frozen=True)
class Traceback:
    frames: tuple[Frame, ...]
    outcome: str | None


def read_traceback(text: str) -> Traceback:
    plain = _ANSI.sub("", text).replace("\r\n", "\n")
    found: list[tuple[int, Frame]] = []
    for pattern in (_PYTHON, _IPYTHON):
        for match in pattern.finditer(plain):
            if not match["path"].startswith("<"):
                found.append(
                    (match.start(), Frame(match["path"], int(match["line"]), _after(plain, match.end())))
                )
    for pattern in (_CELL, _OLD_CELL):
        for match in pattern.finditer(plain):
            arrow = _ARROW.search(plain, match.end())
            groups = match.groupdict()
            line = groups.get("line") or groups.get("old") or (arrow["line"] if arrow else None)
            if line is not None:
                found.append((match.start(), Frame("", int(line), arrow["text"].strip() if arrow else "")))
    lowered = plain.lower()
    outcome = next((outcome for outcome, words in _OUTCOMES if words in lowered), None)
    return Traceback(tuple(frame for _, frame in sorted(found, key=lambda pair: pair[0])), outcome)


def _after(text: str, end: int) -> str:
    """The source line under a frame: Python's next line, or the one of IPython's that has the arrow."""
    following = text[end:].split("\n")[1:9]
    for line in following:
        arrow = _ARROW.match(line)
        if arrow is not None:
            return arrow["text"].strip()
        if line.startswith("    ") and not line.lstrip()[:1].isdigit():
            return line.strip()
        if not line.startswith(" "):
            break
    return ""

"""IPython's extra syntax made plain Python, line for line.

A cell that is Python stays as it is. In the others a line that *begins a statement* with ``%``, ``!`` or
``?``, or ends with ``?``, becomes ``pass``; ``x = !ls`` and ``x = %magic`` become a call of an unknown
function. Inside brackets and strings these characters mean what they mean in Python. A line magic that runs
the statement behind it (``%time train()``) becomes a block whose head is as long, so that columns stay.

A script may have cells too, marked by ``# %%`` or as notebooks are exported (``# In[3]:``). Where one holds
magics, it is no Python as it stands, and its cells are read like those of a notebook (``script_to_python``).
"""

from __future__ import annotations

import ast
import re
import warnings
from itertools import pairwise

#: Cell magics whose body is Python that runs here; every other one hands its body to something else.
_PYTHON_CELLS = frozenset(
    "time timeit capture prun memit mprun lprun wandb debug snakeviz pyinstrument scalene notify ipytest".split()
)

#: Line magics that run the statement behind their options, with the options that take a value.
_RUNNING = {"time": "", "timeit": "nrp", "prun": "lsTD", "memit": "rt", "lprun": "fmTDsu", "mprun": "fT"}

_MAGIC = re.compile(r"\s*(?:[%!?]|,\w|;\w)")
_HELP = re.compile(r"\s*%{0,2}[\w.*\[\]'\"]+\s*\?{1,2}\s*(?:#.*)?$")
_ASSIGNED = re.compile(r"(\s*(?=\S)[\w.,\s\[\]'\"]+?=\s*)(?:!|%\w)")
#: Magics that are written without their ``%`` (IPython's automagic), with an argument that no Python could be.
_AUTOMAGIC = re.compile(
    r"(?:pip|conda|mamba|uv|cd|ls|ll|cat|cp|mv|rm|mkdir|rmdir|run|load|load_ext|autoreload|matplotlib|env|whos?)"
    r"\s+[\w./~*$\"'-]"
)
_RUN = re.compile(r"(\s*)%(\w+)\s+")
_OPTION = re.compile(r"-(?:(\w)\s+|\S+\s+)")
_CELL = re.compile(r"#\s*%%|#\s*In\s*\[[\d ]*\]|#\s*<codecell>|#\s*COMMAND\s-----")
_TOKENS = re.compile(r"\"\"\"|'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#.*|[\[({]|[\])}]", re.DOTALL)


def to_python(lines: list[str]) -> list[str]:
    """As many lines of plain Python, as far as that can be had."""
    if _is_python(lines):
        return lines
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    while first < len(lines) and lines[first].startswith("%%"):  # one may follow the other
        words = lines[first][2:].split()
        if not words or words[0] not in _PYTHON_CELLS:
            return [""] * len(lines)
        lines = [*lines[:first], "", *lines[first + 1 :]]
        if _is_python(lines):
            return lines
        first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return _without_magics(lines)


def script_to_python(lines: list[str]) -> list[str] | None:
    """As many lines of plain Python for a script with cells; None where it has no cells."""
    starts = [number for number, line in enumerate(lines) if _CELL.match(line)]
    if not starts:
        return None
    bounds = sorted({0, *starts, *(start + 1 for start in starts), len(lines)})
    return [line for start, end in pairwise(bounds) for line in to_python(lines[start:end])]


def _is_python(lines: list[str]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_magics(lines: list[str]) -> list[str]:
    result: list[str] = []
    state = _State()
    in_magic = False
    for line in lines:
        if in_magic:  # the line before ended with a backslash
            result.append("")
            in_magic = line.endswith("\\")
            continue
        replaced = _replace(line) if state.begins_statement else None
        if replaced is None:
            state.read(line)
            result.append(line)
        else:
            result.append(replaced)
            in_magic = line.endswith("\\")
    return result


def _replace(line: str) -> str | None:
    """The line in plain Python if it is a magic, else None."""
    indent = line[: len(line) - len(line.lstrip())]
    running = _running(line)
    if running is not None:
        return running
    if _MAGIC.match(line) or _HELP.match(line):
        return indent + "pass"
    if _AUTOMAGIC.match(line) and not _is_python([line]):
        return "pass"
    assigned = _ASSIGNED.match(line)
    if assigned:
        return assigned[1] + "get_ipython().run()"
    return None


def _running(line: str) -> str | None:
    """``%time x = f()`` as ``if 1: x = f()``, its statement in the same columns; None for anything else."""
    found = _RUN.match(line)
    if found is None or found[2] not in _RUNNING:
        return None
    start = found.end()
    option = _OPTION.match(line, start)
    while option is not None:
        start = option.end()
        if option[1] is not None and option[1] in _RUNNING[found[2]]:
            value = re.compile(r"\S+\s+").match(line, start)
            start = value.end() if value is not None else len(line)
        option = _OPTION.match(line, start)
    replaced = found[1] + "if 1:".ljust(start - len(found[1])) + line[start:]
    return replaced if _is_python([replaced.lstrip()]) else None


class _State:
    """Whether the next line begins a statement: outside of brackets, strings and continued lines."""

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = ""
        self._continued = False

    @property
    def begins_statement(self) -> bool:
        return not (self._depth or self._quotes or self._continued)

    def read(self, line: str) -> None:
        self._continued = False
        index = 0
        while index <= len(line):
            if self._quotes:
                end = line.find(self._quotes, index)
                if end < 0:
                    return
                index = end + 3
                self._quotes = ""
            found = _TOKENS.search(line, index)
            if found is None:
                break
            token = found[0]
            if token in ('"""', "'''"):
                self._quotes = token
            elif token[0] == "#":
                return
            elif token in "[({":
                self._depth += 1
            elif token in "])}":
                self._depth = max(self._depth - 1, 0)
            index = found.end()
        self._continued = line.endswith("\\")

"""What the server and its worker tell each other: plain data, pickled, each message after its length.

The server sends ``Texts`` (what is open and how it reads now), ``Setup`` (folders and settings), jobs with
their number, and ``Cancel``. The worker answers each job once, with ``Done``. Only these two ends, parent and
child of one program, ever read the pipe.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from loopgrad.model import Edit, Finding, Message, Partial, Problem

HEADER = struct.Struct(">I")


def pack(message: Any) -> bytes:
    data = pickle.dumps(message, protocol=5)
    return HEADER.pack(len(data)) + data


def read(stream: BinaryIO) -> Any:
    """The next message; EOFError when the other end has gone."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    (length,) = HEADER.unpack(header)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return unpack(data)


def unpack(data: bytes) -> Any:
    return pickle.loads(data)


# To the worker -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FolderSettings:
    """What an editor's settings say about the files below ``root`` ("" for all others)."""

    root: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    ignore_patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setup:
    """The workspace folders, their settings, and whether all their files count as checked."""

    roots: tuple[str, ...] = ()
    settings: tuple[FolderSettings, ...] = (FolderSettings(),)
    whole_workspace: bool = False


@dataclass(frozen=True)
class CellText:
    """A code cell: its number among all cells of the notebook, from 1, and its text."""

    number: int
    text: str


@dataclass(frozen=True)
class Texts:
    """Documents that came, changed (a text, or a notebook's cells) or went (None), by path."""

    changed: dict[str, str | tuple[CellText, ...] | None]
    #: Files that changed on disk.
    stale: tuple[str, ...] = ()
    #: Whether a ``pyproject.toml`` may read differently now.
    settings_changed: bool = False


@dataclass(frozen=True)
class Check:
    """Analyse a file: an open document, or one on disk."""

    path: str
    #: Whether the prefilter may skip it: a file that a search brought, not one that a user opened.
    filtered: bool = False


@dataclass(frozen=True)
class Recall:
    """What is known of files on disk from earlier checks: a ``Checked`` by path, for those of which it is."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """Compute the checked fixes of findings of a file that ``Check`` has just seen."""

    path: str
    keys: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class FixAll:
    """What ``source.fixAll`` does to these files; ``across`` lets fixes reach other checked files."""

    paths: tuple[str, ...]
    across: bool = False


@dataclass(frozen=True)
class Hold:
    """What the variables of an open document hold."""

    path: str


@dataclass(frozen=True)
class Discover:
    """The files of the workspace."""


Job = Check | Recall | Offer | FixAll | Hold | Discover


@dataclass(frozen=True)
class Run:
    number: int
    job: Job


@dataclass(frozen=True)
class Cancel:
    number: int


# From the worker -----------------------------------------------------------------------------------------


@dataclass
class Lines:
    """The lines with non-ASCII text that a result's columns lie in, by path and line: others need no help."""

    wide: dict[str, dict[int, str]] = field(default_factory=dict)
    #: Notebooks that are not open: (cell, line in the cell) of the lines named, by path.
    cells: dict[str, dict[int, tuple[int | None, int]]] = field(default_factory=dict)


@dataclass
class Checked:
    """What an analysis said of one file. ``findings`` come without their requests, which the worker keeps."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    partial: list[Partial] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: Why the text is no Python, or None.
    broken: Problem | None = None
    #: How many cells of a notebook were left out because they are no Python.
    broken_cells: int = 0
    #: The other files that were read for it.
    depends_on: frozenset[str] = frozenset()
    #: Loops that train: (line, name of the function they are in, or "").
    loops: tuple[tuple[int, str], ...] = ()
    lines: Lines = field(default_factory=Lines)
    #: What is wrong with the settings that this file is under.
    settings_problem: Message | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class OfferedFix:
    """A checked fix. In a notebook, edits count lines in the cell that ``cells`` names for each of them."""

    title: Message
    kind: str
    preferred: bool
    stops_training: tuple[str, ...]
    edits: tuple[Edit, ...]
    cells: tuple[int | None, ...]


@dataclass
class Offered:
    fixes: dict[tuple[Any, ...], tuple[OfferedFix, ...]] = field(default_factory=dict)
    lines: Lines = field(default_factory=Lines)


@dataclass
class FixedAll:
    """The edits that fix files, and what they do."""

    edits: tuple[Edit, ...] = ()
    cells: tuple[int | None, ...] = ()
    titles: tuple[str | Message, ...] = ()
    lines: Lines = field(default_factory=Lines)


@dataclass(frozen=True)
class Spot:
    """A variable in a line: its columns (characters from 1, the end exclusive), and what it holds there."""

    column: int
    end_column: int
    told: tuple[Message, ...]


@dataclass
class Held:
    """The variables that hold tensors, by their line."""

    spots: dict[int, list[Spot]] = field(default_factory=dict)

    def at(self, line: int, column: int) -> Spot | None:
        """The variable at a position; one that ends there counts as well."""
        return next(
            (spot for spot in self.spots.get(line, ()) if spot.column <= column <= spot.end_column), None
        )


@dataclass(frozen=True)
class Done:
    """The end of a job: its result, or None with ``cancelled`` or the ``error`` that ended it."""

    number: int
    result: Any = None
    cancelled: bool = False
    error: str = ""

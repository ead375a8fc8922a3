"""Read a rule's page: its sections, its Python blocks, the marks in them and their options.

A block is a fence that starts with ```` ```py ````. A line that has a finding ends with a mark:

    hidden = step(x, hidden)  # error: LG101 "part of the message"

The severity, the code and the line are exact, both ways; the quoted part is optional. Options stand
in an HTML comment directly above the fence, or after ``py`` on the fence itself, as ``key: value``
separated by semicolons:

    <!-- outcome: second-backward; steps: batches; fix: detach -->

    outcome      what PyTorch shows (see tests/torch_runner/run_block.py); ``clean`` where it is left out
                 of a block that must be right; ``none`` where nothing but an assertion shows it
    observable   what the assertions in an ``outcome: none`` block show, in words
    steps        the variable that says how many iterations run
    fix          the kind of the preferred fix, or ``none`` where no fix is offered
    select       codes to enable besides the default ones
    cells        ``yes``: the block is a notebook, ``# %%`` starts a cell; running the cell that holds
                 the mark a second time is what shows the outcome
    no-run       why the block cannot run here
    driver       a line that calls what the block defines, added where it runs
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "server" / "loopgrad" / "rules" / "pages"
LANGUAGES = ("en", "zh-cn")

OPTIONS = frozenset({"outcome", "observable", "steps", "fix", "select", "cells", "no-run", "driver"})
MARK = re.compile(r'# (error|warning|information): (LG\d{3})(?: "([^"]*)")?')
FENCE = re.compile(r"^(`{3,})\s*(.*)$")
COMMENT = re.compile(r"^<!--\s*(.*?)\s*-->$")


@dataclass(frozen=True)
class Mark:
    line: int  # in the block, from 1
    severity: str
    code: str
    text: str | None = None


@dataclass(frozen=True)
class Block:
    page: Path
    section: int  # which ``##`` section it stands in, from 0
    number: int  # in its section, from 1
    line: int  # of its first line of code, in the page
    code: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        return self.page.stem

    @property
    def name(self) -> str:
        section = SECTIONS["en"][self.section].replace(" ", "_")
        return f"{self.rule}-{self.page.parent.name}-{section}-{self.number}"

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(
            Mark(number, *found)
            for number, text in enumerate(self.code.splitlines(), 1)
            for found in ((m[1], m[2], m[3]) for m in MARK.finditer(text))
        )

    @property
    def select(self) -> tuple[str, ...]:
        return tuple(re.findall(r"LG\d{3}", self.options.get("select", "")))

    @property
    def outcome(self) -> str:
        return self.options.get("outcome", "clean")

    @property
    def is_notebook(self) -> bool:
        return self.options.get("cells") == "yes"

    def cells(self) -> list[tuple[int, str]]:
        """The cells of a notebook block, each with its first line's number in the block."""
        lines = self.code.splitlines(keepends=True)
        starts = [n for n, text in enumerate(lines) if text.startswith("# %%")]
        ends = [*starts[1:], len(lines)]
        return [(a + 2, "".join(lines[a + 1 : b])) for a, b in zip(starts, ends, strict=True)]

    def notebook(self) -> str:
        """A notebook block as the JSON text of an ``.ipynb`` file."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{n}",
                "metadata": {},
                "outputs": [],
                "source": text.strip("\n").splitlines(keepends=True),
            }
            for n, (_, text) in enumerate(self.cells(), 1)
        ]
        info = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        return json.dumps({"cells": cells, "metadata": info, "nbformat": 4, "nbformat_minor": 5}, indent=1)

    def rerun_script(self) -> str:
        """A script that runs the cells in turn, and the marked one a second time."""
        marked = {mark.line for mark in self.marks}
        again = [
            text for start, text in self.cells() if marked & set(range(start, start + len(text.splitlines())))
        ]
        return self.code + "".join(again)


@dataclass(frozen=True)
class Page:
    path: Path
    title: str
    sections: tuple[str, ...]
    blocks: tuple[Block, ...]
    #: The text outside the blocks, by section ("" is what stands before the first one).
    prose: dict[str, str]


#: The sections of every page, in order. A block's place is the index of its section.
SECTIONS = {
    "en": (
        "What it does",
        "Why it is bad",
        "Example",
        "Use instead",
        "Look-alikes",
        "About the fix",
        "How certain",
        "References",
    ),
    "zh-cn": ("作用", "为什么有害", "示例", "应改为", "相似但正确的写法", "关于修复", "确定程度", "参考"),
}
EXAMPLE, INSTEAD, LOOK_ALIKES = 2, 3, 4


def options_of(text: str, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        key, colon, value = part.partition(":")
        if not colon or key.strip() not in OPTIONS:
            raise ValueError(f"{where}: unknown option {part!r}")
        found[key.strip()] = value.strip()
    return found


def parse(path: Path) -> Page:
    """Read one page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    title = ""
    sections: list[str] = []
    blocks: list[Block] = []
    prose: dict[str, list[str]] = {"": []}
    options: dict[str, str] = {}
    number = 0
    at = 0
    while at < len(lines):
        text = lines[at]
        at += 1
        where = f"{path.name}:{at}"
        if fence := FENCE.match(text):
            start = at
            while at < len(lines) and lines[at].rstrip() != fence[1]:
                at += 1
            if at == len(lines):
                raise ValueError(f"{where}: the fence is never closed")
            language, _, info = fence[2].partition(" ")
            if language == "py":
                if not sections:
                    raise ValueError(f"{where}: a block before the first section")
                number += 1
                code = "".join(line + "\n" for line in lines[start:at])
                every = {**options, **options_of(info, where)}
                blocks.append(Block(path, len(sections) - 1, number, start + 1, code, every))
            options = {}
            at += 1
        elif comment := COMMENT.match(text):
            options = {**options, **options_of(comment[1], where)}
        else:
            if options:
                raise ValueError(f"{where}: options that stand above no block")
            if text.startswith("## "):
                sections.append(text[3:].strip())
                prose[sections[-1]] = []
                number = 0
            elif text.startswith("# "):
                title = text[2:].strip()
            else:
                prose[sections[-1] if sections else ""].append(text)
    joined = {name: "\n".join(text).strip() for name, text in prose.items()}
    return Page(path, title, tuple(sections), tuple(blocks), joined)


def pages(language: str) -> list[Page]:
    """All pages of a language, by code."""
    return [parse(path) for path in sorted((PAGES / language).glob("LG*.md"))]

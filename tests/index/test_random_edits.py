"""Random changes of a workspace: what is known of it is what a check from cold says.

The engine here says of a file all that it can see from it: the text of each module that it imports, directly or not,
by the place where it found it. Whatever is out of date shows.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from pathlib import Path

import pytest

from loopgrad import checker
from loopgrad.checker import Checker, FileOutcome
from loopgrad.config import Config
from loopgrad.index import Index, index
from loopgrad.index.opening import index_of
from loopgrad.model import FileResult, Finding, Message, Range
from loopgrad.parallel import check_paths
from loopgrad.source import FileProvider, Provider, SourceFile, asked, discover
from loopgrad.source.discover import RealPaths

IMPORT = re.compile(r"from (\.*)([\w.]*) import x")
FOLDERS = ("", "pkg/", "pkg/sub/", "src/", "scripts/")
NAMES = ("a", "b", "c", "d", "pkg", "sub")


def analyse(source: SourceFile, provider: Provider, select: frozenset[str]) -> FileResult:
    here = os.path.relpath  # words name no file as this run spells it
    seen: dict[str, str] = {here(source.path): source.text}
    checked: set[tuple[str, bool]] = set()

    def follow(file: SourceFile) -> None:
        for dots, module in IMPORT.findall(file.text):
            path = provider.resolve(module, len(dots), file.path)
            seen[f"{here(file.path)} {dots}{module}"] = "" if path is None else here(path)
            if path is not None and here(path) not in seen:
                other = provider.read(path)
                seen[here(path)] = "" if other is None else other.text
                checked.add((here(path), provider.is_checked(path)))
                if other is not None:
                    follow(other)

    follow(source)
    message = Message.of("say", seen=tuple(sorted(seen.items())), checked=tuple(sorted(checked)))
    where = Range(1, 1, 1, 2)
    finding = Finding(
        "LG201", "graph-accumulates", "warning", "certain", "grows", message, source.path, where
    )
    return FileResult(source.path, [finding])


class Workspace:
    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.folder, self.draw = folder, draw
        self.count = 0

    def files(self) -> list[Path]:
        return sorted(self.folder.rglob("*.py"))

    def change(self) -> None:
        files = self.files()
        kind = self.draw.choice(
            ("write", "write", "write", "new", "new", "remove", "move", "package", "swap")
        )
        if kind in ("new", "package") or len(files) < 3:
            name = "__init__" if kind == "package" else self.draw.choice(NAMES)
            self.write(self.folder / (self.draw.choice(FOLDERS) + name + ".py"))
            return
        path = self.draw.choice(files)
        if kind == "write":
            self.write(path)
        elif kind == "remove":
            path.unlink()
        elif kind == "move":
            target = self.folder / (self.draw.choice(FOLDERS) + self.draw.choice(NAMES) + ".py")
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
        else:  # two files change places, with sizes and times as they were
            other = self.draw.choice(files)
            if other != path:
                shutil.move(path, self.folder / "aside")
                shutil.move(other, path)
                shutil.move(self.folder / "aside", other)

    def write(self, path: Path) -> None:
        self.count += 1
        imports = [
            f"from {self.draw.choice(('', '', '.', '..'))}{self.draw.choice(('a', 'b', 'c', 'd', 'pkg.a', 'sub.b', 'pkg'))} import x"
            for _ in range(self.draw.randrange(4))
        ]
        broken = "def (" if self.draw.random() < 0.1 else ""
        lines = [f"import torch  # {self.count:06}", *imports, broken]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(inputs: list[str], *, known: bool) -> list[object]:
    real = RealPaths()
    found, _ = discover(inputs, real=real)
    config = Config()
    provider = FileProvider((item.path for item in found), real=real)
    kept: Index | None = index_of(inputs, provider, config) if known else None
    outcome = check_paths(found, Checker(config, provider), 1, index=kept)
    if kept is not None:
        kept.close()
    return [outcome.findings, outcome.problems, outcome.partial]


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_out_of_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checker, "analyse", analyse)
    if seed % 2:  # stamps are trusted as soon as the clock of this file system allows
        monkeypatch.setattr(asked, "REST", 20_000_000)
    if seed > 2:  # as where many files are checked
        monkeypatch.setattr(index, "MANY", 1)
    examined: list[str] = []
    plain = Checker.examine

    def examine(self: Checker, item: object) -> FileOutcome:
        outcome = plain(self, item)  # type: ignore[arg-type]
        examined.append(outcome.path)
        return outcome

    monkeypatch.setattr(Checker, "examine", examine)
    (tmp_path / "pyproject.toml").touch()
    draw = random.Random(seed)
    workspace = Workspace(tmp_path, draw)
    for _ in range(12):
        workspace.change()
    kept = whole = 0
    for _ in range(40):
        for _ in range(draw.choice((0, 1, 1, 1, 3))):
            workspace.change()
        files = [str(path.relative_to(tmp_path)) for path in workspace.files()]
        inputs = draw.choice((["."], ["."], ["."], draw.sample(files, 2), [str(tmp_path)]))
        examined.clear()
        found = run(inputs, known=True)
        kept += len(examined)
        examined.clear()
        assert found == run(inputs, known=False)
        whole += len(examined)
    assert kept < whole / 2

"""Imports lead to files as in Python, within the workspace alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopgrad.source import FileProvider, SourceFile


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a package, a namespace package, scripts and a ``src`` folder."""
    for name in (
        "pyproject.toml",
        "tools.py",
        "pkg/__init__.py",
        "pkg/model.py",
        "pkg/sub/__init__.py",
        "pkg/sub/deep.py",
        "space/part.py",
        "src/lib/__init__.py",
        "src/lib/core.py",
        "scripts/train.py",
        "scripts/helper.py",
        "scripts/random.py",
        "scripts/space/other.py",
        "pkg/logging.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"name = {name!r}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


RESOLVED = [
    # module, level, from, to
    ("helper", 0, "scripts/train.py", "scripts/helper.py"),
    ("tools", 0, "scripts/train.py", "tools.py"),
    ("pkg", 0, "scripts/train.py", "pkg/__init__.py"),
    ("pkg.model", 0, "scripts/train.py", "pkg/model.py"),
    ("pkg.sub.deep", 0, "pkg/model.py", "pkg/sub/deep.py"),
    ("lib.core", 0, "scripts/train.py", "src/lib/core.py"),
    ("space.part", 0, "scripts/train.py", "space/part.py"),  # a namespace package in two folders
    ("space.other", 0, "scripts/train.py", "scripts/space/other.py"),
    ("space", 0, "scripts/train.py", None),  # it has no file
    ("model", 1, "pkg/__init__.py", "pkg/model.py"),
    ("model", 1, "pkg/logging.py", "pkg/model.py"),
    ("model", 2, "pkg/sub/deep.py", "pkg/model.py"),
    ("", 1, "pkg/model.py", "pkg/__init__.py"),
    ("sub.deep", 1, "pkg/model.py", "pkg/sub/deep.py"),
    ("random", 0, "scripts/train.py", "scripts/random.py"),  # a script's folder hides the library's
    ("logging", 0, "pkg/model.py", None),  # in a package it does not
    ("torch", 0, "scripts/train.py", None),
    ("pkg.nothing", 0, "scripts/train.py", None),
    ("tools.part", 0, "scripts/train.py", None),
    ("tools", 0, "-", "tools.py"),  # standard input is in the working folder
]


@pytest.mark.parametrize(("module", "level", "start", "found"), RESOLVED)
def test_imports_are_found(project: Path, module: str, level: int, start: str, found: str | None) -> None:
    assert FileProvider().resolve(module, level, start) == found


def test_paths_are_spelled_as_the_importing_file_or_as_given(project: Path) -> None:
    absolute = str(project / "scripts/train.py")
    assert FileProvider().resolve("helper", 0, absolute) == str(project / "scripts/helper.py")
    given = FileProvider(["./scripts/helper.py"])
    assert given.resolve("helper", 0, "scripts/train.py") == "./scripts/helper.py"
    assert given.is_checked("scripts/helper.py")
    assert not given.is_checked("scripts/train.py")


def test_a_regular_package_hides_those_behind_it(project: Path) -> None:
    (project / "src/pkg").mkdir()
    (project / "src/pkg/extra.py").write_text("")
    assert FileProvider().resolve("pkg.extra", 0, "scripts/train.py") is None


def test_files_that_are_missing_or_broken_are_out_of_reach(project: Path) -> None:
    (project / "tools.py").write_text("def f(:\n")
    provider = FileProvider()
    assert provider.read("tools.py") is None
    assert provider.read("nothing.py") is None
    assert provider.read("pkg/model.py") is not None
    assert provider.read("pkg/model.py") is provider.read("./pkg/model.py")


def test_texts_lie_over_files(project: Path) -> None:
    provider = FileProvider()
    fixed = provider.with_source(SourceFile("pkg/model.py", "fixed = True\n"))
    assert fixed.read("./pkg/model.py").text == "fixed = True\n"  # type: ignore[union-attr]
    assert "fixed" not in provider.read("pkg/model.py").text  # type: ignore[union-attr]


def test_changes_on_disk_are_seen_after_forgetting(project: Path) -> None:
    provider = FileProvider()
    assert provider.resolve("fresh", 0, "scripts/train.py") is None
    (project / "scripts/fresh.py").write_text("")
    provider.forget("scripts/fresh.py")
    assert provider.resolve("fresh", 0, "scripts/train.py") == "scripts/fresh.py"

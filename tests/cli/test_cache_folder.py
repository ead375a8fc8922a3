"""The folder of earlier results: where it lies, when it cannot be used, and what is let go."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from loopgrad.index.places import FOLDER

CARRY = "import torch\nx = carry(1)\n"
CLEAN = "import torch\nx = 1\n"


def database(folder: Path) -> Path:
    (found,) = (folder / FOLDER).rglob("*.sqlite3")
    return found


def test_the_folder_says_what_it_is(loopgrad: Any) -> None:
    loopgrad.write("pyproject.toml", "")
    loopgrad.write("src/a.py", CARRY)
    loopgrad("check", "src/a.py")
    folder = loopgrad.folder / FOLDER
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert (folder / ".gitignore").read_text().splitlines()[-1] == "*"
    assert database(loopgrad.folder).name == "workspace.sqlite3"


def test_without_a_project_the_folder_is_in_the_working_folder(loopgrad: Any, monkeypatch: Any) -> None:
    loopgrad.write("elsewhere/a.py", CARRY)
    loopgrad.write("here/b.py", CARRY)
    monkeypatch.chdir(loopgrad.folder / "here")
    first = loopgrad("check", "../elsewhere/a.py")
    assert database(loopgrad.folder / "here").exists()
    assert not (loopgrad.folder / "elsewhere" / FOLDER).exists()
    assert loopgrad("check", "../elsewhere/a.py") == first


def test_the_folder_can_be_another_one(loopgrad: Any, analysed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write("pyproject.toml", '[tool.loopgrad]\ncache-dir = "by-setting"\n')
    loopgrad("check", ".")
    monkeypatch.setenv("LOOPGRAD_CACHE_DIR", "by-environment")
    loopgrad("check", ".")
    loopgrad("check", ".", "--cache-dir", "by-option")
    assert analysed() == ["a.py"] * 3
    for name in ("by-setting", "by-environment", "by-option"):
        assert (loopgrad.folder / name / "CACHEDIR.TAG").exists()
    assert not (loopgrad.folder / FOLDER).exists()
    loopgrad("check", ".", "--cache-dir", "by-option")
    assert analysed() == []


def test_no_cache(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    for _ in range(2):
        loopgrad("check", ".", "--no-cache")
        assert analysed() == ["a.py"]
    assert not (loopgrad.folder / FOLDER).exists()


def test_a_folder_that_cannot_be_made_costs_nothing(loopgrad: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write(FOLDER, "a file of this name")
    result = loopgrad("check", "a.py")
    assert result.status == 1
    assert result.err == ""
    chosen = loopgrad("check", "a.py", "--cache-dir", "a.py/cache")
    assert chosen.status == 1
    assert "a.py/cache cannot be used" in chosen.err
    assert chosen.out == result.out


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_read_only_folder_is_read(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad("check", ".")
    analysed()
    path = database(loopgrad.folder)
    try:
        path.chmod(0o400)
        path.parent.chmod(0o500)
        if os.access(path, os.W_OK):
            pytest.skip("modes do not bind this user")
        assert loopgrad("check", ".").status == 1
        assert analysed() == []
        loopgrad.write("a.py", CARRY + "y = 2\n")
        for _ in range(2):
            result = loopgrad("check", ".")
            assert (result.status, result.err) == (1, "")
            assert analysed() == ["a.py"]
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\1" * 5000])
def test_a_broken_database_is_made_anew(loopgrad: Any, analysed: Any, content: bytes) -> None:
    loopgrad.write("a.py", CARRY)
    first = loopgrad("check", ".")
    database(loopgrad.folder).write_bytes(content)
    analysed()
    assert loopgrad("check", ".") == first
    assert loopgrad("check", ".") == first
    analysed()
    assert loopgrad("check", ".") == first
    assert analysed() == []


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("results", "outcome", '[["l",["Finding"]],["l"],["l"],[],[]]'),
        ("results", "outcome", "{"),
        ("results", "modules", b"\1\2\3"),
        ("results", "modules", 7),
        ("results", "checked", "["),
        ("modules", "fact", "[]"),
        ("modules", "fact", None),
    ],
)
@pytest.mark.parametrize("sealed", [True, False])
def test_a_broken_entry_is_a_miss(
    loopgrad: Any,
    analysed: Any,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    column: str,
    value: Any,
    sealed: bool,
) -> None:
    loopgrad.write("a.py", CARRY)
    first = loopgrad("check", ".")
    analysed()
    connection = sqlite3.connect(database(loopgrad.folder))
    with connection:
        if value is None:
            connection.execute(f"DELETE FROM {table}")
        else:
            connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        if sealed and table == "results":  # by somebody who knows how
            from loopgrad.index.store import Result

            *fields, _ = connection.execute("SELECT * FROM results").fetchone()
            path, variant, named, wanted, fixes, *rest = fields
            seal = Result(path, variant, bool(named), bool(wanted), bool(fixes), *rest).seal
            connection.execute("UPDATE results SET seal = ?", (seal,))
    connection.close()
    assert loopgrad("check", ".") == first
    assert analysed() == ["a.py"]
    assert loopgrad("check", ".") == first
    assert analysed() == []


def test_what_is_gone_is_let_go(loopgrad: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        loopgrad.write(f"m{number}.py", CLEAN)
    loopgrad("check", ".")
    for number in range(4):
        (loopgrad.folder / f"m{number}.py").unlink()
    loopgrad.write("m4.py", CARRY)
    connection = sqlite3.connect(database(loopgrad.folder))
    connection.execute("PRAGMA user_version = 1")  # the last tidying was long ago
    connection.close()
    loopgrad("check", ".")
    connection = sqlite3.connect(database(loopgrad.folder))
    assert [row[0] for row in connection.execute("SELECT path FROM results")] == ["m4.py"]
    assert connection.execute("SELECT count(*) FROM modules").fetchone() == (1,)
    connection.close()


# loopgrad clean ------------------------------------------------------------------------------------------


def test_clean(loopgrad: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    loopgrad.write("pyproject.toml", "")
    loopgrad.write("a.py", CARRY)
    loopgrad.write("sub/pyproject.toml", "")
    loopgrad.write("sub/a.py", CARRY)
    loopgrad("check", ".")
    loopgrad("check", "sub")
    result = loopgrad("clean")
    assert result.status == 0
    assert result.out.count("removed ") == 2
    assert not list(loopgrad.folder.rglob(FOLDER))
    assert loopgrad("clean").out == "there was nothing to remove\n"


def test_clean_leaves_what_is_not_ours(loopgrad: Any) -> None:
    loopgrad.write("a.py", CARRY)
    mine = loopgrad.write("notes/mine.txt", "keep me")
    loopgrad("check", ".", "--cache-dir", "notes")
    assert not (loopgrad.folder / "notes" / ".gitignore").exists()
    loopgrad.write("pyproject.toml", '[tool.loopgrad]\ncache-dir = "notes"\n')
    assert "notes" in loopgrad("clean").out
    assert [path.name for path in (loopgrad.folder / "notes").iterdir()] == [mine.name]

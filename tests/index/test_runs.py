"""Several processes at once, and processes that are killed: the reports are those of a run without earlier ones."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loopgrad.cli import main
from loopgrad.index.places import FOLDER

CASES = Path(__file__).parents[1] / "cases"
COMMAND = [sys.executable, "-m", "loopgrad", "check", ".", "--output-format", "json"]

#: A test waits for nothing longer; it is for the day that something never comes.
PATIENCE = 300.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in sorted(path.parent.name for path in CASES.glob("*/bug.py"))[:16]:
        for number in range(2):
            shutil.copy(CASES / name / "bug.py", tmp_path / f"{name.replace('-', '_')}_{number}.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: `loopgrad` in a process that cannot analyse anything: what it reports, it has known.
UNABLE = "from loopgrad import checker, cli; checker.analyse = None; cli.main()"


def report(*options: str, code: str | None = None) -> str:
    command = COMMAND if code is None else [sys.executable, "-c", code, *COMMAND[3:]]
    run = subprocess.run([*command, *options], check=False, capture_output=True, text=True, timeout=PATIENCE)
    return run.stdout


def kept(folder: Path) -> int:
    """How many results there are on disk."""
    for path in (folder / FOLDER).rglob("*.sqlite3"):
        try:
            connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        except sqlite3.Error:
            return 0
        try:
            count: int = connection.execute("SELECT count(*) FROM results").fetchone()[0]
            return count
        except sqlite3.Error:
            return 0
        finally:
            connection.close()
    return 0


def test_runs_at_the_same_time(folder: Path) -> None:
    alone = report("--no-cache")
    processes = [
        subprocess.Popen([*COMMAND, "-j", str(jobs)], stdout=subprocess.PIPE, text=True) for jobs in (1, 2, 1)
    ]
    reports = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    assert reports == [alone] * 3
    assert kept(folder) == 32
    assert report("-j", "1", code=UNABLE) == alone


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_is_killed_leaves_what_it_has_found(folder: Path, jobs: int) -> None:
    alone = report("--no-cache")
    process = subprocess.Popen(
        [*COMMAND, "-j", str(jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not kept(folder) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    assert kept(folder) > 0
    assert report("-j", str(jobs)) == alone
    assert kept(folder) == 32


def test_a_database_that_another_run_keeps_locked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from loopgrad.index import store

    monkeypatch.setattr(store, "PATIENCE", 0.1)
    alone = report("--no-cache")
    report()
    (path,) = (folder / FOLDER).rglob("*.sqlite3")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        main(["check", ".", "-j", "1", "--output-format", "github"])
        assert path.exists()
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert report() == alone

"""The processes of a check: results in order, fresh ones for full ones, none lost with a file or left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loopgrad.checker import FileOutcome
from loopgrad.source import Input
from loopgrad.source.asked import Asked
from loopgrad.workers import Workers

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="what stands in for the checker is inherited by fork"
)


class Noting:
    """Checks nothing, and says in which process that was; after ``enough`` files it holds much."""

    def __init__(self, enough: int = 10**6) -> None:
        self.provider = SimpleNamespace(is_full=False)
        self._left = enough

    def heard(self, item: Input) -> tuple[FileOutcome, Asked]:
        if "die" in item.path:
            os._exit(9)
        if "fail" in item.path:
            raise AssertionError(item.path)
        self._left -= 1
        self.provider.is_full = self._left <= 0
        return FileOutcome(f"{item.path} {os.getpid()}"), Asked()


def checked(checker: Any, *batches: str, count: int = 2) -> list[tuple[str, int]]:
    """Each file and the process that checked it; 0 for one that died of it."""
    inputs = [[Input(path, True) for path in batch.split()] for batch in batches]
    found = []
    with Workers(checker, inputs, count) as workers:
        for number in range(len(batches)):
            for outcome, asked in workers.result(number):
                path, _, process = outcome.path.partition(" ")
                assert bool(outcome.problems) == (not process) == asked.passing
                found.append((path, int(process or 0)))
    return found


def test_results_come_in_order_from_so_many_processes() -> None:
    found = checked(Noting(), "a b", "c d", "e f", "g h", count=2)
    assert [path for path, _ in found] == list("abcdefgh")
    assert len({process for _, process in found}) <= 2
    assert os.getpid() not in {process for _, process in found}


def test_a_process_that_holds_much_makes_way_for_a_fresh_one() -> None:
    found = checked(Noting(enough=2), "a b", "c d", "e f", "g h", count=1)
    assert [path for path, _ in found] == list("abcdefgh")
    processes = [process for _, process in found]
    assert processes[::2] == processes[1::2]
    assert len(set(processes)) == 4


@pytest.mark.parametrize("way", ["die", "fail"])
def test_a_file_that_ends_its_process_costs_no_other(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = checked(Noting(), "a b", f"c {way} d", "e f", "g h", count=2)
    assert [path for path, _ in found] == ["a", "b", "c", way, "d", "e", "f", "g", "h"]
    assert [path for path, process in found if not process] == [way]


def test_a_process_that_is_ended_while_it_has_nothing_to_do_is_missed_by_nobody() -> None:
    batches = [[Input(path, True)] for path in "ab"]
    with Workers(Noting(), batches, 2) as workers:  # type: ignore[arg-type]
        first = workers.result(0)[0][0].path
        workers.result(1)
        os.kill(int(first.split()[1]), signal.SIGKILL)
        workers._batches = [*batches, [Input("c", True)]]
        workers._waiting.append(2)
        assert workers.result(2)[0][0].path.startswith("c ")


def test_every_file_may_die() -> None:
    found = checked(Noting(), *(f"die{number} die" for number in range(6)), count=2)
    assert [process for _, process in found] == [0] * 12


def test_who_goes_away_early_leaves_no_process() -> None:
    def stop() -> None:
        with Workers(Noting(), [[Input("a", True)]] * 40, 2) as workers:  # type: ignore[arg-type]
            workers.result(0)
            raise KeyboardInterrupt

    before = children(os.getpid())
    with pytest.raises(KeyboardInterrupt):
        stop()
    assert children(os.getpid()) == before


def test_processes_end_when_the_run_is_killed(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"a{number}.py").write_text("import torch\n" + f"x = torch.ones({number + 1})\n" * 2000)
    server = str(Path(__file__).parents[2] / "server")
    run = subprocess.Popen(
        [sys.executable, "-m", "loopgrad", "check", ".", "-j", "2", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": server},
        stdout=subprocess.DEVNULL,
    )
    workers: list[int] = []
    while len(workers) < 2 and run.poll() is None:
        workers = children(run.pid)
    assert len(workers) == 2
    run.send_signal(signal.SIGKILL)
    run.wait()
    deadline = time.monotonic() + 60
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_running, workers))


def children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def is_running(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False

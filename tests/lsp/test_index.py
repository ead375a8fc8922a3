"""What earlier windows found: opening a workspace again does not analyse all of it again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from loopgrad import checker
from loopgrad.index.opening import server_place
from loopgrad.lsp import wire
from loopgrad.lsp.worker_jobs import Jobs

EXAMPLES = Path(__file__).parents[2] / "examples"

HELPER = "import torch\n\n\ndef loss(model, batch):\n    return model(batch).sum()\n"
TRAIN = """\
import torch
from helper import loss

model = torch.nn.Linear(3, 3)
total = 0
for step in range(9):
    value = loss(model, torch.ones(3))
    value.backward()
    total += value
"""


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.setenv("LOOPGRAD_CACHE_DIR", str(tmp_path / "kept"))
    for name in ("encoded_features.py", "encoded_features_fixed.py"):
        shutil.copy(EXAMPLES / name, folder / name)
    (folder / "train.py").write_text(TRAIN)
    (folder / "helper.py").write_text(HELPER)
    return folder


@pytest.fixture
def analysed(monkeypatch):
    done = []
    plain = checker.analyse

    def analyse(source, provider, select):
        done.append(Path(source.path).name)
        return plain(source, provider, select)

    def since():
        found = sorted(done)
        done.clear()
        return found

    monkeypatch.setattr(checker, "analyse", analyse)
    return since


def window(folder, **options):
    jobs = Jobs()
    jobs.set_up(wire.Setup((str(folder),), whole_workspace=True, **options))
    return jobs


def check(jobs):
    """As the server does: what is known first, and then the rest."""
    paths = jobs.run(wire.Discover())
    known = jobs.run(wire.Recall(paths))
    for path in paths:
        if path not in known:
            known[path] = jobs.run(wire.Check(path, filtered=True))
    jobs.rest()
    return {
        Path(path).name: [(finding.key, finding.severity, finding.trace) for finding in checked.findings]
        for path, checked in known.items()
    }


def test_a_second_window_analyses_nothing(workspace, analysed):
    first = check(window(workspace))
    assert analysed() == ["encoded_features.py", "encoded_features_fixed.py", "helper.py", "train.py"]
    assert [key[0] for key, *_ in first["encoded_features.py"]] == ["LG102"]
    assert [key[0] for key, *_ in first["train.py"]] == ["LG201"]
    assert check(window(workspace)) == first
    assert analysed() == []


def test_an_edit_between_windows(workspace, analysed):
    check(window(workspace))
    analysed()
    (workspace / "helper.py").write_text(HELPER.replace("sum()", "sum().detach()"))
    found = check(window(workspace))
    assert analysed() == ["helper.py", "train.py"]
    assert [key[0] for key, *_ in found["train.py"]] == ["LG301"]


def test_an_open_document_stands_for_its_file(workspace, analysed):
    check(window(workspace))
    analysed()
    jobs = window(workspace)
    helper = str(workspace / "helper.py")
    jobs.take(wire.Texts({helper: HELPER.replace("sum()", "sum().detach()")}))
    paths = jobs.run(wire.Discover())
    known = jobs.run(wire.Recall(paths))
    assert sorted(Path(path).name for path in known) == ["encoded_features.py", "encoded_features_fixed.py"]
    (finding,) = jobs.run(wire.Check(str(workspace / "train.py"), filtered=True)).findings
    assert finding.code == "LG301"
    jobs.take(wire.Texts({helper: HELPER}))  # as it is on disk
    assert str(workspace / "train.py") in jobs.run(wire.Recall(paths))
    jobs.take(wire.Texts({helper: "def ("}))  # half typed
    assert str(workspace / "train.py") not in jobs.run(wire.Recall(paths))


def test_what_is_known_says_what_it_depends_on(workspace):
    check(window(workspace))
    jobs = window(workspace)
    train = str(workspace / "train.py")
    known = jobs.run(wire.Recall((train,)))
    assert known[train].depends_on == {str(workspace / "helper.py")}
    (finding,) = known[train].findings
    assert jobs.run(wire.Offer(train, (finding.key,))).fixes[finding.key]  # made anew


def test_severities_are_those_of_this_window(workspace, analysed):
    check(window(workspace))
    analysed()
    settings = (wire.FolderSettings(severity=(("LG201", "error"),)),)
    ((_, severity, _),) = check(window(workspace, settings=settings))["train.py"]
    assert severity == "error"
    assert analysed() == []


@pytest.mark.asyncio
async def test_nothing_is_written_into_the_workspace(start, workspace, tmp_path):
    before = sorted(workspace.rglob("*"))
    answers = []
    for _ in range(2):
        editor = await start(workspace, engine=False, cache=tmp_path / "kept")
        answers.append(await editor.command("checkWorkspace"))
        assert editor.codes((workspace / "train.py").as_uri()) == ["LG201"]
        reports = next(iter(editor.client.progress_reports.values()))
        assert reports[-2].message == "4 of 4 files"
        await editor.stop()
    assert answers[0] == answers[1]
    assert sorted(workspace.rglob("*")) == before
    assert list((tmp_path / "kept").rglob("*.sqlite3"))


def test_the_place_is_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("LOOPGRAD_CACHE_DIR", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert server_place([str(tmp_path)]).folder == str(tmp_path / "xdg" / "loopgrad")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert server_place([str(tmp_path)]).folder == str(tmp_path / ".cache" / "loopgrad")

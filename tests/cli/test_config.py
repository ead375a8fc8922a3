"""Settings: the nearest ``[tool.loopgrad]``, checked, and overruled by the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

KINDS = "import torch\ncarry(1)\ngrow(1)\nnote(1)\n"


def found(loopgrad: Any, *argv: str) -> list[tuple[str, str, str]]:
    result = loopgrad("check", *(argv or (".",)), "--output-format", "json")
    assert result.err == ""
    return [
        (finding["path"], finding["code"], finding["severity"])
        for finding in json.loads(result.out)["findings"]
    ]


def settings(loopgrad: Any, text: str, folder: str = "") -> None:
    loopgrad.write(folder + "pyproject.toml", "[tool.loopgrad]\n" + text)


def test_select_and_ignore(loopgrad: Any) -> None:
    loopgrad.write("a.py", KINDS)
    settings(loopgrad, 'select = ["LG1", "LG2"]\nignore = ["LG202"]\n')
    assert [code for _, code, _ in found(loopgrad)] == ["LG101", "LG201"]
    # The command line wins: a selection there puts the ignored codes of the settings aside.
    assert [code for _, code, _ in found(loopgrad, ".", "--select", "LG202")] == ["LG202"]
    assert [code for _, code, _ in found(loopgrad, ".", "--ignore", "LG1")] == ["LG201", "LG202"]


def test_severity(loopgrad: Any) -> None:
    loopgrad.write("a.py", KINDS)
    settings(loopgrad, 'severity = { LG2 = "information", LG201 = "error", LG101 = "off" }\n')
    assert found(loopgrad) == [("a.py", "LG201", "error"), ("a.py", "LG202", "information")]
    settings(loopgrad, 'severity = { LG1 = "information", LG2 = "information" }\n')
    assert loopgrad("check", ".").status == 0


def test_exclude_concerns_searches_alone(loopgrad: Any) -> None:
    for name in ("own/a.py", "legacy/b.py", "own/legacy/c.py", "third/party/d.py", "own/gen_e.py"):
        loopgrad.write(name, "import torch\ncarry(1)\n")
    settings(loopgrad, 'exclude = ["legacy", "third/*", "gen_*.py"]\n')
    assert [path for path, _, _ in found(loopgrad)] == ["own/a.py"]
    assert [path for path, _, _ in found(loopgrad, "legacy/b.py")] == ["legacy/b.py"]


def test_force_exclude_passes_over_files_that_are_named(loopgrad: Any) -> None:
    for name in ("legacy/deep/a.py", "gen_x.py", "b.py"):
        loopgrad.write(name, "import torch\ncarry(1)\n")
    settings(loopgrad, 'exclude = ["legacy", "gen_*.py"]\n')
    named = ("check", "legacy/deep/a.py", "./gen_x.py", "b.py", "--output-format", "concise")
    assert len(loopgrad(*named).out.splitlines()) == 4
    assert (
        loopgrad(*named, "--force-exclude").out == "b.py:2:1: LG101 found carry\nFound 1 error in 1 file.\n"
    )
    assert loopgrad("check", "gen_x.py", "--force-exclude").status == 0


def test_per_file_ignores(loopgrad: Any) -> None:
    loopgrad.write("tests/a.py", KINDS)
    loopgrad.write("b.py", KINDS)
    settings(loopgrad, '[tool.loopgrad.per-file-ignores]\n"tests/*" = ["LG2"]\n"b.py" = ["ALL"]\n')
    assert found(loopgrad) == [("tests/a.py", "LG101", "error")]


def test_the_nearest_section_counts_for_each_file(loopgrad: Any) -> None:
    for name in ("a.py", "inner/b.py", "inner/deep/c.py", "plain/d.py"):
        loopgrad.write(name, KINDS)
    settings(loopgrad, 'select = ["LG101"]\n')
    settings(loopgrad, 'select = ["LG201"]\n', "inner/")
    loopgrad.write("plain/pyproject.toml", "[tool.other]\nx = 1\n")  # no section of ours
    assert [(path, code) for path, code, _ in found(loopgrad)] == [
        ("a.py", "LG101"),
        ("inner/b.py", "LG201"),
        ("inner/deep/c.py", "LG201"),
        ("plain/d.py", "LG101"),
    ]


BAD = {
    "not TOML": ("select = [", "the settings cannot be read"),
    "unknown key": ('colour = "red"\n', "has no setting 'colour'"),
    "misspelt key": ("per_file_ignores = {}\n", "did you mean per-file-ignores?"),
    "wrong type": ('select = "LG101"\n', "the setting select of [tool.loopgrad] must be a list of strings"),
    "wrong table": ("severity = 3\n", "the setting severity of [tool.loopgrad] must be a table"),
    "unknown code": ('ignore = ["LG110"]\n', "'LG110' is no rule's code; did you mean LG101?"),
    "unknown severity": (
        'severity = { LG101 = "fatal" }\n',
        "must be one of: error, warning, information, off",
    ),
    "unknown code with severity": ('severity = { X1 = "off" }\n', "'X1' is no rule's code"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD.keys())
def test_mistakes_in_the_settings_are_bad_usage(loopgrad: Any, text: str, said: str) -> None:
    loopgrad.write("a.py", KINDS)
    settings(loopgrad, text)
    result = loopgrad("check", "a.py")
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith("loopgrad: error: ")
    assert "pyproject.toml: " in result.err
    assert said in result.err

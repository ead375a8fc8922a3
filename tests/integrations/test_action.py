"""The GitHub Action: valid, and its scripts do what its inputs say. The examples of ``docs/ci.md`` are valid too."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
pytest.importorskip("check_jsonschema")

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
BLOCK = re.compile(r"^```yaml ([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall((ROOT / "docs" / "ci.md").read_text(encoding="utf-8"))
SCHEMAS = {"workflow": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}


def validate(path: Path, schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_is_valid() -> None:
    validate(ROOT / "action.yml", "vendor.github-actions")


def test_the_schema_finds_mistakes(tmp_path: Path) -> None:
    broken = tmp_path / "action.yml"
    broken.write_text("name: x\ndescription: y\nruns:\n  using: composite\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        validate(broken, "vendor.github-actions")


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_the_documented_examples_are_valid(kind: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(text, encoding="utf-8")
    if kind == "pre-commit":
        clientlib = pytest.importorskip("pre_commit.clientlib")
        assert clientlib.load_config(str(path))["repos"]
    else:
        validate(path, SCHEMAS[kind])


def test_the_documentation_names_every_input_and_its_default() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| .* \| (?:`([^`]*)`)? ?\|$", text, re.MULTILINE))
    assert rows == {name: value["default"] for name, value in ACTION["inputs"].items()}
    used = {name for kind, text in EXAMPLES for name in _inputs(yaml.safe_load(text))}
    assert used <= set(ACTION["inputs"])


def _inputs(document: Any) -> set[str]:
    steps = [step for job in document.get("jobs", {}).values() for step in job["steps"]]
    return {name for step in steps if "/loopgrad@" in step.get("uses", "") for name in step.get("with", {})}


# Its scripts -------------------------------------------------------------------------------------------

pytest_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def run_step(
    project: Any, name: str, outputs: dict[str, str], **inputs: str
) -> tuple[int, str, dict[str, str]]:
    """Runs a step's script as the runner does: ``(status, output, the step's outputs)``."""
    step = STEPS[name]
    file = project.write("outputs.txt", "")
    values = {key: str(value["default"]) for key, value in ACTION["inputs"].items()} | {
        key.replace("_", "-"): value for key, value in inputs.items()
    }

    def filled(text: str) -> str:
        text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
        return re.sub(r"\$\{\{ steps\.check\.outputs\.([\w-]+) \}\}", lambda found: outputs[found[1]], text)

    environment = {key: filled(value) for key, value in step["env"].items()}
    assert "${{" not in step["run"], "what a user writes reaches a script as a variable alone"
    done = project.run(
        "bash",
        "--noprofile",
        "--norc",
        "-eo",
        "pipefail",
        "-c",
        step["run"],
        GITHUB_OUTPUT=str(file),
        **environment,
    )
    written = dict(line.split("=", 1) for line in file.read_text().splitlines())
    return done.returncode, done.stdout + done.stderr, written


@pytest_bash
@pytest.mark.parametrize(
    ("carried", "fail", "status"), [(True, "true", 1), (True, "false", 0), (False, "true", 0)]
)
def test_annotations(project: Any, sources: Sequence[str], carried: bool, fail: str, status: int) -> None:
    project.write("train.py", sources[0] if carried else sources[1])
    code, text, outputs = run_step(project, "Check", {})
    assert code == 0, "the step that checks tells its status to the last one"
    assert text.startswith("::error file=train.py,line=5,col=5,") if carried else text == ""
    assert outputs == {"status": "1" if carried else "0"}
    assert run_step(project, "Result", outputs, fail=fail)[0] == status


@pytest_bash
def test_sarif_goes_to_the_file_that_is_uploaded(project: Any, sources: Sequence[str]) -> None:
    project.write("src/train.py", sources[0])
    project.write("other.py", sources[0])
    code, text, outputs = run_step(
        project,
        "Check",
        {},
        report="sarif",
        paths="src\nmissing*.py",
        args="--select LG1",
        sarif_file="out.sarif",
    )
    assert (code, text) == (0, "")
    assert outputs == {"status": "2", "sarif-file": "out.sarif"}, "a path that is not there fails"
    (run,) = json.loads((project.folder / "out.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["LG101"]
    assert run_step(project, "Result", outputs, fail="false")[0] == 2
    upload = STEPS["Upload for code scanning"]
    assert upload["with"]["sarif_file"] == "${{ inputs.sarif-file }}"
    assert upload["if"] == "${{ inputs.report == 'sarif' }}"


@pytest_bash
def test_what_a_user_writes_is_no_command(project: Any, sources: Sequence[str]) -> None:
    project.write("train.py", sources[1])
    run_step(project, "Check", {}, paths="train.py $(touch pwned); touch pwned", args="`touch pwned`")
    assert not (project.folder / "pwned").exists()

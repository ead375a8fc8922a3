"""The compiled engine (``LOOPGRAD_COMPILE=1``, see setup.py): it says what the plain one says."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

#: To compile takes minutes: one process does it for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

ROOT = Path(__file__).parents[2]

DEEP = {
    "a sum of many terms": "import torch\nx = torch.ones(1, requires_grad=True)\ny = "
    + " + ".join(["x"] * 3000),
    "a call in a call in a call": "def f(x):\n    return x\n\ny = " + "f(" * 90 + "1" + ")" * 90,
    "a function that calls itself for ever": "def f(x):\n    return f(x + 1)\n\nf(0)\n",
    "loops in loops": "".join(f"{'    ' * k}for i{k} in data:\n" for k in range(18))
    + "    " * 18
    + "x = 1\n",
    "a chain of attributes": "import torch\ny = torch" + ".a" * 2000,
    "a list in a list in a list": "x = " + "[" * 90 + "]" * 90,
    "functions that call one another": "\n".join(
        f"def f{k}(x):\n    return f{k + 1}(x)\n" for k in range(400)
    )
    + "f0(1)\n",
}


def missing() -> str | None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        return "no C compiler"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "no headers of Python"
    lacking = [name for name in ("mypyc", "setuptools") if importlib.util.find_spec(name) is None]
    return f"no {lacking[0]}" if lacking else None


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as an installed wheel has it."""
    if reason := missing():
        pytest.skip(reason)
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "tools" / "wheel", source / "tools" / "wheel")
    shutil.copytree(
        ROOT / "server", source / "server", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    )
    wheels, installed = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(wheels)]
    run = subprocess.run(
        [*build, str(source)],
        env={**os.environ, "LOOPGRAD_COMPILE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    (wheel,) = wheels.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(installed)
    return installed


def check(package: Path, folder: Path, *arguments: str) -> tuple[int, str]:
    """Status and report of a check by the package in a folder."""
    run = subprocess.run(
        [sys.executable, "-m", "loopgrad", "check", "--no-cache", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout


def test_it_is_compiled(compiled: Path) -> None:
    where = "import loopgrad.analysis.runtime as runtime; print(runtime.__file__)"
    run = subprocess.run(
        [sys.executable, "-c", where],
        env={**os.environ, "PYTHONPATH": str(compiled)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert Path(run.stdout.strip()).suffix in (".so", ".pyd"), run.stderr
    version = subprocess.run(
        [sys.executable, "-m", "loopgrad", "--version"],
        env={**os.environ, "PYTHONPATH": str(compiled)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert version.stdout.endswith(" (compiled)\n")


def test_it_says_of_the_cases_what_the_plain_engine_says(compiled: Path) -> None:
    arguments = ("tests/cases", "examples", "--output-format", "json")
    plain = check(ROOT / "server", ROOT, *arguments)
    assert plain[0] == 1
    assert check(compiled, ROOT, *arguments) == plain


@pytest.mark.parametrize("code", DEEP.values(), ids=DEEP)
def test_what_is_nested_deeply_ends_as_in_the_plain_engine(compiled: Path, tmp_path: Path, code: str) -> None:
    (tmp_path / "deep.py").write_text(code)
    arguments = ("deep.py", "--output-format", "json")
    plain, other = check(ROOT / "server", tmp_path, *arguments), check(compiled, tmp_path, *arguments)
    if plain[0] == 2:  # too deep for Python's frames, of which compiled code needs fewer
        assert other[0] in (0, 1, 2)
        assert json.loads(other[1])
    else:
        assert other == plain

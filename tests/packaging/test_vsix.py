"""The packaged extension: what is in it, and that the server it carries runs under every CPython at hand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tests.packaging.bundled_server import BundledServer, pythons

#: Making a VSIX takes a while: one process makes them for all of these tests.
pytestmark = pytest.mark.xdist_group("vsix")

ROOT = Path(__file__).parents[2]
TARGETS = ("linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64")
HERE = {("linux", "x86_64"): "linux-x64", ("linux", "aarch64"): "linux-arm64"}
VERSIONS = ("310", "311", "312", "313", "314")
NATIVE = {
    "linux-x64": "cpython-{}-x86_64-linux-gnu.so",
    "linux-arm64": "cpython-{}-aarch64-linux-gnu.so",
    "darwin-x64": "cpython-{}-darwin.so",
    "darwin-arm64": "cpython-{}-darwin.so",
    "win32-x64": "cp{}-win_amd64.pyd",
}
ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00"  # 64 bits, a shared object
#: How the native modules of a target begin.
MAGIC = {
    "linux-x64": ELF + b"\x3e\x00",  # EM_X86_64
    "linux-arm64": ELF + b"\xb7\x00",  # EM_AARCH64
    "darwin-x64": bytes.fromhex("cffaedfe 07000001"),
    "darwin-arm64": bytes.fromhex("cffaedfe 0c000001"),
    "win32-x64": b"MZ",
}


def missing() -> str | None:
    if shutil.which("node") is None:
        return "no node"
    return None if (ROOT / "node_modules").is_dir() else "the extension cannot be built: run npm ci"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A VSIX for every target."""
    if reason := missing():
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    out = tmp_path_factory.mktemp("vsix")
    command = ["node", str(ROOT / "tools" / "vsix" / "package.mjs"), "--target", "all", "--out", str(out)]
    environment = {**os.environ, "LOOPGRAD_PYTHON": sys.executable}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if re.search("dns error|Failed to fetch|Could not find a version", run.stderr) and not os.environ.get(
        "CI"
    ):
        pytest.skip("the server's packages cannot be had: there is no network")
    assert run.returncode == 0, run.stdout + run.stderr
    print(run.stdout)
    return {target: next(out.glob(f"loopgrad-{target}-*.vsix")) for target in TARGETS}


@pytest.fixture(scope="module", params=TARGETS)
def vsix(made: dict[str, Path], request: pytest.FixtureRequest) -> tuple[str, zipfile.ZipFile]:
    return request.param, zipfile.ZipFile(made[request.param])


def names(archive: zipfile.ZipFile, folder: str = "") -> set[str]:
    """The files in a folder of the extension, relative to it."""
    begin = f"extension/{folder}"
    return {
        name[len(begin) :] for name in archive.namelist() if name.startswith(begin) and not name.endswith("/")
    }


def test_holds_the_server_as_it_is_in_the_repository(vsix):
    _, archive = vsix
    server = ROOT / "server" / "loopgrad"
    expected = {
        path.relative_to(server).as_posix()
        for path in server.rglob("*")
        if path.is_file() and not {"__pycache__", ".mypy_cache", ".ruff_cache"} & set(path.parts)
    }
    assert names(archive, "bundled/server/loopgrad/") == expected
    for language in ("en", "zh-cn"):
        assert f"rules/pages/{language}/LG101.md" in expected


def test_holds_what_is_needed_and_nothing_else(vsix):
    _, archive = vsix
    everything = names(archive)
    folders = {PurePosixPath(name).parts[0] for name in everything}
    files = (
        "package.json package.nls.json package.nls.zh-cn.json readme.md changelog.md LICENSE.txt NOTICES.txt"
    )
    assert folders - {"client", "l10n", "bundled"} == set(files.split())
    assert {
        "client/dist/extension.js",
        "client/dist/panel.js",
        "client/media/panel.css",
        "bundled/launcher.py",
    } <= everything
    assert "docs/images" not in archive.read("extension/readme.md").decode()
    refused = re.compile(
        r"(^|/)(tests?|__pycache__|node_modules|\.[^/]+|bin|[^/]*\.egg-info)/|\.(pyc|pyi|ts|map|c|pyx|log)$|_test\.py$"
    )
    assert [name for name in sorted(everything) if refused.search(name)] == []


def test_holds_every_licence(vsix):
    _, archive = vsix
    libs = names(archive, "bundled/libs/")
    packages = {name.split("/")[0] for name in libs if ".dist-info/" not in name}
    assert packages == set(
        "attr attrs cattr cattrs exceptiongroup libcst lsprotocol pygls tomli typing_extensions.py".split()
    )
    licensed = {
        name.split("-")[0] for name in libs if re.search(r"\.dist-info/.*(LICEN[CS]E|COPYING)", name, re.I)
    }
    assert licensed == set(
        "attrs cattrs exceptiongroup libcst lsprotocol pygls tomli typing_extensions".split()
    )
    notices = archive.read("extension/NOTICES.txt").decode()
    for package in ("vscode-languageclient", "vscode-languageserver-protocol", "vscode-jsonrpc"):
        assert re.search(rf"^{package} \d", notices, re.M)


def test_its_manifest_is_the_one_that_is_shipped(vsix):
    target, archive = vsix
    manifest = json.loads(archive.read("extension/package.json"))
    assert not {"scripts", "devDependencies"} & set(manifest)
    assert manifest["main"].removeprefix("./") in names(archive)
    assert f'TargetPlatform="{target}"' in archive.read("extension.vsixmanifest").decode()
    version = re.search(r'__version__ = "(.*)"', (ROOT / "server" / "loopgrad" / "__init__.py").read_text())
    assert version and manifest["version"] == version[1]


def test_native_modules_are_those_of_the_target(vsix):
    target, archive = vsix
    libs = names(archive, "bundled/libs/")
    native = {name for name in libs if name.endswith((".so", ".pyd", ".dll", ".dylib"))}
    expected = {f"libcst/native.{NATIVE[target].format(version)}" for version in VERSIONS}
    assert expected <= native
    for name in native:
        begin = archive.read(f"extension/bundled/libs/{name}")[:24]
        assert begin.startswith(MAGIC[target]), f"{name} begins with {begin!r}"


@pytest.fixture(scope="module")
def unpacked(made: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's folder, for this machine."""
    target = HERE.get((sys.platform, os.uname().machine))
    if target is None:
        pytest.skip("no target for this machine is built on it")
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(made[target]).extractall(folder)
    return folder / "extension"


@pytest.mark.parametrize("python", pythons(), ids=lambda python: python.version)
def test_the_server_finds_and_fixes(unpacked, tmp_path, python):
    """In a folder, and with an environment, that would break it if anything of them were imported."""
    for name in ("queue", "libcst", "pygls", "loopgrad", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    source = (ROOT / "examples" / "admm_denoiser.py").read_text()
    command = [python.path, "-I", "-S", "-X", "utf8", str(unpacked / "bundled" / "launcher.py"), "server"]
    with BundledServer(command, tmp_path) as server:
        server.initialize()
        uri = (tmp_path / "train.py").as_uri()
        server.open(uri, source)
        (found,) = [
            each for each in server.diagnostics(uri) if (each["code"], each["severity"]) == ("LG101", 1)
        ]
        titles = [action["title"] for action in server.actions(uri, found)]
        assert any("benchmark" in title for title in titles)
    assert server.status == 0


@pytest.mark.parametrize("python", pythons(), ids=lambda python: python.version)
def test_native_modules_load(unpacked, python):
    libs = str(unpacked / "bundled" / "libs")
    code = (
        f"import sys; sys.path.insert(0, {libs!r}); import libcst; print(libcst.parse_module('x = (1)').code)"
    )
    run = subprocess.run([python.path, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("x = (1)\n", "")

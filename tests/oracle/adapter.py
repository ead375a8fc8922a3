"""Asking the analyser: one function that turns a source into the JSON object of `loopgrad check`.

The analyser is reached through its documented command line, in this process where it can be imported
(a process start per program would cost more than all the rest), else as a command. The variable
`LOOPGRAD_ORACLE_ANALYSE=module:function` names another function from source to that object.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

Report = dict[str, Any]
NAME = "program.py"


class Unavailable(Exception):
    """There is no analyser to ask."""


class Broken(Exception):
    """The analyser failed, or its answer is no report."""


SERVER = Path(__file__).resolve().parents[2] / "server"


@cache
def _main() -> Callable[[list[str]], Any] | None:
    if importlib.util.find_spec("loopgrad") is None and SERVER.is_dir():
        sys.path.insert(0, str(SERVER))
    try:
        return importlib.import_module("loopgrad.cli").main  # type: ignore[no-any-return]
    except (ImportError, AttributeError):
        return None


@cache
def _custom() -> Callable[[str], Report] | None:
    named = os.environ.get("LOOPGRAD_ORACLE_ANALYSE")
    if not named:
        return None
    module, _, function = named.partition(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def available() -> bool:
    """Is there an analyser at all?"""
    return _custom() is not None or _main() is not None


def _in_process(main: Callable[[list[str]], Any], arguments: list[str]) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    argv = sys.argv
    sys.argv = ["loopgrad", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(arguments)
            except SystemExit:
                pass
    finally:
        sys.argv = argv
    out.flush()
    return out.buffer.getvalue().decode()


def _as_command(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "loopgrad", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout


def analyse(source: str) -> Report:
    """The report on a source: the object that `loopgrad check --output-format json` prints."""
    custom = _custom()
    if custom is not None:
        return custom(source)
    main = _main()
    if main is None:
        raise Unavailable
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_text(source)
        arguments = ["check", str(path), "--output-format", "json", "--exit-zero", "--no-cache"]
        text = _in_process(main, arguments)
        if not text.strip():
            text = _as_command(arguments)
    try:
        report = json.loads(text)
    except ValueError as error:
        raise Broken(f"no JSON: {text[:120]!r}") from error
    if not isinstance(report, dict) or "findings" not in report:
        raise Broken(f"no report: {text[:120]!r}")
    if report.get("errors"):
        raise Broken(f"errors: {report['errors']}")
    return report


def outcomes(source: str) -> set[str]:
    """The outcomes of the findings on a source; their fixes are not asked for, which costs most."""
    if _custom() is not None or _main() is None:
        return {finding["outcome"] for finding in analyse(source)["findings"]}
    from loopgrad.checker import Checker
    from loopgrad.config import Config
    from loopgrad.source import FileProvider, SourceFile

    found = Checker(Config(None, None), FileProvider()).check_source(SourceFile(NAME, source)).findings
    return {finding.outcome for finding in found}


def apply_edits(source: str, edits: list[dict[str, Any]]) -> str:
    """The source with a fix's edits made (positions count from 1, the end is exclusive)."""
    rows = source.splitlines(keepends=True)
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row))

    def offset(at: dict[str, int]) -> int:
        return min(starts[min(at["line"] - 1, len(rows))] + at["column"] - 1, len(source))

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["new_text"]) for e in edits]
    for start, end, text in sorted(spans, reverse=True):
        source = source[:start] + text + source[end:]
    return source

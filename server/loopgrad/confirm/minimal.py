"""A report of a finding that a run did not bear out: one file that shows it, to be looked at by a person.

The script is made smaller by what did not run: a function, a class or a branch without a statement that ran
changes nothing of the run, so it goes, so long as the check still reports the finding. At the head stand, as
comments, the versions, the finding and the verdict. It is text; nothing is sent anywhere.
"""

from __future__ import annotations

import ast
import os
import platform
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

#: Seconds for making a script smaller.
_LONGEST = 5.0

#: The line of a finding in a text, if the check reports it there.
Finder = Callable[[str], "int | None"]


def reduced(text: str, ran: set[int], line_of: Finder) -> str:
    """The text without what did not run, as far as the finding stays."""
    deadline = time.monotonic() + _LONGEST
    tried: set[str] = set()
    while time.monotonic() < deadline:
        for candidate in _smaller(text, ran):
            if candidate in tried or time.monotonic() > deadline:
                continue
            tried.add(candidate)
            if line_of(candidate) is not None:
                text, ran = candidate, _moved(text, candidate, ran)
                break
        else:
            break
    return re.sub(r"\n{4,}", "\n\n\n", text)


def _smaller(text: str, ran: set[int]) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines(keepends=True)
    for parent in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if not isinstance(body, list):
                continue
            for statement in body:
                if not isinstance(statement, ast.stmt) or _has_run(statement, ran):
                    continue
                start = min([statement.lineno, *_decorators(statement)])
                end = statement.end_lineno or start
                if _shares_lines(statement, body, start, end) or _starts_within(lines, statement):
                    continue
                instead = []
                if len(body) == 1:
                    indent = re.match(r"\s*", lines[start - 1])
                    instead = [(indent[0] if indent else "") + "pass\n"]
                    if lines[start - 1 : end] == instead:
                        continue
                yield "".join([*lines[: start - 1], *instead, *lines[end:]])


def _decorators(statement: ast.stmt) -> list[int]:
    return [decorator.lineno for decorator in getattr(statement, "decorator_list", ())]


def _shares_lines(statement: ast.stmt, body: list[Any], start: int, end: int) -> bool:
    """Whether another statement stands on its lines: ``a; b``."""
    return any(
        other is not statement and other.lineno <= end and (other.end_lineno or 0) >= start for other in body
    )


def _starts_within(lines: list[str], statement: ast.stmt) -> bool:
    """``if x: y``: what is before it on its line belongs to another."""
    line = lines[statement.lineno - 1].encode()
    return bool(line[: statement.col_offset].strip())


def _has_run(statement: ast.stmt, ran: set[int]) -> bool:
    """Whether a statement in it ran. Imports and definitions leave no trace: those count by what is inside."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)):
        return True
    return any(isinstance(node, ast.stmt) and node.lineno in ran for node in ast.walk(statement))


def _moved(before: str, after: str, ran: set[int]) -> set[int]:
    """The lines that ran, where they are after lines were taken out."""
    old, new = before.splitlines(), after.splitlines()
    head = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    shift = len(old) - len(new)
    return {line if line <= head else line - shift for line in ran if line <= head or line > head + shift}


def as_script(text: str, finding: dict[str, Any], line_of: Finder, facts: dict[str, Any]) -> str:
    """The script with its head. ``facts``: torch, python, reason, device, steps, version, files."""
    others = [os.path.basename(path) for path in facts["files"]][:8]
    head = [
        "A finding of Loopgrad that a run did not bear out.",
        "",
        f"loopgrad {facts['version']}, torch {facts['torch']}, Python {facts['python']}, "
        f"{platform.system()} {platform.machine()}",
        f"{finding['code']} {finding['name']} ({finding['severity']}, {finding['certainty']}), "
        f"outcome {finding['outcome']}, line LINE:",
        *("  " + line for line in str(finding["message"]).splitlines()),
        f"The run, on {facts['device']}, {facts['steps']} steps: {facts['reason']}.",
        "What did not run has been left out.",
        *([f"Other files that ran and are not here: {', '.join(others)}"] if others else []),
    ]
    line = line_of(text)
    shown = "?" if line is None else str(line + len(head) + 1)
    comments = [("# " + said.replace("LINE", shown)).rstrip() + "\n" for said in head]
    return "".join([*comments, "\n", text])


def report(path: str, text: str, ran: set[int], finding: dict[str, Any], facts: dict[str, Any]) -> str:
    """The report of one finding; ``text`` is what ran as ``path``."""
    line_of = _checked(path, finding)
    if line_of(text) is None:  # the run's text and the check's agree, or there is nothing to make smaller
        return as_script(text, finding, line_of, facts)
    return as_script(reduced(text, ran, line_of), finding, line_of, facts)


def _checked(path: str, finding: dict[str, Any]) -> Finder:
    from loopgrad.rules import check
    from loopgrad.source import FileProvider, SourceFile

    def line_of(text: str) -> int | None:
        try:
            result = check(SourceFile(path, text), FileProvider([path]), select=frozenset({finding["code"]}))
        except Exception:
            return None
        for found in result.findings:
            same = (found.outcome, found.certainty) == (finding["outcome"], finding["certainty"])
            if same and list(found.carriers) == list(finding["carriers"]):
                return found.range.line
        return None

    return line_of

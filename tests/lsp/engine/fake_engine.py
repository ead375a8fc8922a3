"""An engine that finds what the comments of a file tell it to, so that tests of the server test the server.

``x = y  # finds LG101 raises=9 loop=3 built=2`` is a finding at ``y``, until the line has ``.detach()``; the fix
puts that there. ``fix=.item()`` asks for another one, ``note`` makes it information, ``unsafe`` a fix that is not
to be preferred. ``raises=helper:4`` is a line of the module ``helper``. Further words: ``# sleep 2.5`` keeps the
analysis busy, ``# crash`` ends the process, ``# fails`` raises, ``from helper import f  # asks`` is a finding if
the helper has ``# answers``.
"""

from __future__ import annotations

import ast
import os
import re
import time

from loopgrad.model import FileResult, Finding, FixRequest, Message, Range, Step, TraceStep
from loopgrad.source import Provider, SourceFile

_FINDS = re.compile(r"# finds (LG\d+)(.*)")


def check(source: SourceFile, provider: Provider, select: frozenset[str]) -> FileResult:
    text = source.text
    if "# crash" in text:
        os._exit(3)
    if "# fails" in text:
        raise RuntimeError("as told")
    asleep = re.search(r"# sleep ([\d.]+)", text)
    if asleep:
        end = time.monotonic() + float(asleep[1])
        while time.monotonic() < end:
            sum(range(1000))
    result = FileResult(source.path)
    statements = {
        node.lineno: node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and hasattr(node, "lineno")
    }
    for number, line in enumerate(source.lines, 1):
        found = _FINDS.search(line)
        if found and found[1] in select and number in statements:
            finding = _finding(source, provider, statements[number], found[1], found[2])
            if finding is not None:
                result.findings.append(finding)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            path = provider.resolve(node.module, node.level, source.path)
            helper = provider.read(path) if path else None
            if helper is not None and "# asks" in source.line(node.lineno) and "# answers" in helper.text:
                result.findings.append(_plain("LG103", source.path, source.range(node)))
    return result


def _finding(source: SourceFile, provider: Provider, node: ast.stmt, code: str, words: str) -> Finding | None:
    options = dict(word.partition("=")[::2] for word in words.split())
    fix = options.get("fix", ".detach()")
    value = getattr(node, "value", None) or node
    where = source.range(value)
    if source.segment(where).endswith((fix, ".detach()")):
        return None
    targets = getattr(node, "targets", None)
    name = ast.unparse(targets[0]) if targets else "it"
    trace = []
    if "built" in options:
        trace.append(_step("built", source, int(options["built"]), 1))
    trace.append(TraceStep("carried", source.path, where, 1, Message.of("rule.LG402")))
    raised = None
    if "raises" in options:
        module, _, line = options["raises"].rpartition(":")
        path = provider.resolve(module, 0, source.path) if module else source.path
        file = provider.read(path) if path else None
        if path and file is not None:
            raised = (path, _line(file, int(line)))
            trace.append(TraceStep("reached", path, raised[1], 2, Message.of("rule.LG402")))
    request = FixRequest(
        "detach",
        Message.of("lsp.line", line=f"fix {fix}"),
        (Step("append", source.path, where, fix),),
        preferable="unsafe" not in options,
    )
    return Finding(
        code,
        "named-" + code.lower(),
        "information" if "note" in options else ("warning" if "warns" in options else "error"),
        "certain",
        options.get("outcome", "second-backward"),
        Message.of(f"rule.{code}"),
        source.path,
        where,
        iteration=2 if raised else None,
        loop_line=int(options["loop"]) if "loop" in options else None,
        carriers=(name,),
        trace=tuple(trace),
        requests=(request,),
        raised_at=raised,
    )


def _plain(code: str, path: str, where: Range) -> Finding:
    return Finding(
        code, "plain", "warning", "possible", "second-backward", Message.of(f"rule.{code}"), path, where
    )


def _step(role: str, source: SourceFile, line: int, iteration: int) -> TraceStep:
    return TraceStep(role, source.path, _line(source, line), iteration, Message.of("rule.LG402"))


def _line(source: SourceFile, number: int) -> Range:
    text = source.line(number)
    return Range(number, len(text) - len(text.lstrip()) + 1, number, len(text) + 1)

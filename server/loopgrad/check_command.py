"""``loopgrad check``: what its options make of the checker and the reports."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from loopgrad.checker import Checker, Outcome, to_fix
from loopgrad.collector import uncollected
from loopgrad.config import Config, ConfigError
from loopgrad.messages import render
from loopgrad.model import Message, Problem
from loopgrad.parallel import check_paths
from loopgrad.report import Report, Style, as_concise, as_github, as_gitlab, as_json, as_sarif, as_text
from loopgrad.report.diff import diff
from loopgrad.report.progress import Progress
from loopgrad.report.style import wants_colour
from loopgrad.source import STDIN, FileProvider, Input, SourceError, SourceFile, discover
from loopgrad.source.add_ignore import add_ignores
from loopgrad.source.decode import reason_of
from loopgrad.source.discover import RealPaths

if TYPE_CHECKING:
    from loopgrad.index import Index

OK, FOUND, FAILED = 0, 1, 2

#: The formats that tell of fixes: for the others none is worked out.
_WITH_FIXES = frozenset({"text", "json", "sarif"})


class CheckCommand:
    """One run. ``run`` gives the exit status."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._config = Config(args.select, args.ignore)
        real = RealPaths()
        self._inputs, self._problems = discover(args.paths, self._config.excluded, real)
        if args.force_exclude:
            self._inputs = [item for item in self._inputs if not self._config.excluded(item.path)]
        for item in self._inputs:
            self._config.settings(item.path)  # mistakes in settings come before any work
        self._provider = FileProvider((item.path for item in self._inputs), real=real)
        self._stdin = self._read_stdin()
        self._index = self._open_index()
        self._progress = Progress(len(self._inputs), sys.stderr, args.language)

    def run(self) -> int:
        args = self._args
        if args.add_ignore and self._stdin is not None:
            raise ConfigError(Message.of("usage.stdin-alone"))
        try:
            with uncollected():
                if args.diff:
                    return self._diff()
                fixed = self._fix() if args.fix else []
                with_fixes = args.output_format in _WITH_FIXES and not args.add_ignore
                outcome = self._checked(offer_fixes=with_fixes)
        finally:
            self._progress.clear()
            if self._index is not None:
                self._index.close()
        ignored = self._add_ignores(outcome) if args.add_ignore else []
        report = Report(
            outcome,
            self._provider.load,
            args.language,
            args.statistics,
            args.show_unused_ignores,
            fixed,
            ignored,
        )
        result_on_stdout = args.fix and self._stdin is not None
        if result_on_stdout:
            _write_bytes(self._stdin or b"")
        self._write(report, sys.stderr if result_on_stdout else sys.stdout)
        return self._status(outcome, self._left(outcome))

    def _checked(self, *, offer_fixes: bool) -> Outcome:
        checker = self._checker(offer_fixes=offer_fixes)
        outcome = check_paths(self._inputs, checker, self._args.jobs, self._progress, self._index)
        known = [problem for problem in outcome.problems if problem not in self._problems]
        outcome.problems = self._problems + known
        return outcome

    def _checker(self, *, offer_fixes: bool = False) -> Checker:
        return Checker(
            self._config,
            self._provider,
            offer_fixes=offer_fixes,
            show_unused=self._args.show_unused_ignores,
        )

    @staticmethod
    def _left(outcome: Outcome) -> bool:
        return any(finding.severity != "information" for finding in outcome.findings)

    def _status(self, outcome: Outcome, failed: bool) -> int:
        if outcome.problems:
            return FAILED
        return FOUND if failed and not self._args.exit_zero else OK

    def _open_index(self) -> Index | None:
        """The results of earlier runs; None where the user wants none, or a folder for them cannot be had."""
        if self._args.no_cache:
            return None
        paths = [item.path for item in self._inputs if item.path != STDIN]
        if len({os.path.isabs(path) for path in paths}) != 1:
            return (
                None  # nothing to keep, or paths of both kinds: then no rule tells how a module's is written
            )
        from loopgrad.index.opening import Refused, index_of

        try:
            return index_of(
                list(dict.fromkeys(os.path.dirname(path) or os.curdir for path in paths)),
                self._provider,
                self._config,
                self._args.cache_dir,
                show_unused=self._args.show_unused_ignores,
            )
        except Refused as refused:
            print(render(refused.message, self._args.language), file=sys.stderr)
            return None

    # Standard input --------------------------------------------------------------------------------

    def _read_stdin(self) -> bytes | None:
        """Takes in standard input if it is to be checked, and gives its bytes."""
        if not any(item.path == STDIN for item in self._inputs):
            return None
        data = sys.stdin.buffer.read()
        try:
            self._provider.put(SourceFile.from_bytes(STDIN, data))
        except SourceError as error:
            self._provider.put_error(error)
        return data

    # Changes ---------------------------------------------------------------------------------------

    def _each_fix(self, done: Callable[[SourceFile, bytes, list[str | Message]], None]) -> None:
        """Calls ``done`` for each file that ``--fix`` would change. Later files see the earlier fixed.

        With an index, all files are checked first, and only those are looked at again in which something is to
        be done, or has changed since.
        """
        checker = self._checker()
        if self._index is not None:
            check_paths(self._inputs, checker, self._args.jobs, self._progress, self._index)
        for number, item in enumerate(self._inputs, 1):
            try:
                if self._is_clean(item, checker):
                    continue
                fixed = checker.fixed(item)
                if fixed is not None:
                    done(*fixed)
                    self._changed()
            except SourceError as error:
                self._problems.append(error.problem())
            self._progress(number)
        for item in checker.reach_across:
            try:
                for source, data in checker.fixed_across(item):
                    done(source, data, [Message.of("check.fixed-across", path=item.path)])
                    self._changed()
            except SourceError as error:
                self._problems.append(error.problem())

    def _is_clean(self, item: Input, checker: Checker) -> bool:
        """Whether it is known that nothing is to be fixed in a file."""
        hit = None if self._index is None else self._index.find(item, fixes=False)
        return hit is not None and not hit.outcome.problems and not to_fix(checker.finish(hit.outcome))

    def _changed(self) -> None:
        if self._index is not None:
            self._index.forget()

    def _fix(self) -> list[tuple[str, str]]:
        """Applies fixes, and lists them as (path, sentence)."""
        listed: list[tuple[str, str]] = []

        def write(source: SourceFile, data: bytes, titles: list[str | Message]) -> None:
            self._store(source.path, data)
            for title in titles:
                text = render(title, self._args.language) if isinstance(title, Message) else title
                listed.append((source.path, text))

        self._each_fix(write)
        return listed

    def _diff(self) -> int:
        """Prints what ``--fix`` would change, and problems on standard error."""
        changes: list[str] = []
        style = Style(wants_colour(self._args.color, sys.stdout))

        def show(source: SourceFile, data: bytes, titles: list[str | Message]) -> None:
            changes.append(diff(source, data, style))
            self._provider.put(SourceFile.from_bytes(source.path, data))

        self._each_fix(show)
        self._progress.clear()
        for change in changes:
            sys.stdout.write(change)
        outcome = Outcome(files=len(self._inputs), problems=self._problems)
        if self._problems:
            self._write(Report(outcome, self._provider.load, self._args.language), sys.stderr, "text")
        return self._status(outcome, bool(changes))

    def _add_ignores(self, outcome: Outcome) -> list[tuple[str, int, str]]:
        """Writes comments for all findings, takes those out of the outcome, and lists what was added."""
        added: list[tuple[str, int, str]] = []
        left = []
        for path in dict.fromkeys(finding.path for finding in outcome.findings):
            findings = [finding for finding in outcome.findings if finding.path == path]
            try:
                source = self._provider.load(path)
                text, comments = add_ignores(source, findings)
                changed = source.with_text(text)
                changed.tree  # noqa: B018 - raises if a comment went where none can be
                self._store(path, source.encode(text))
            except SourceError as error:
                outcome.problems.append(error.problem())
                left.extend(findings)
                continue
            added.extend((path, line, comments[line]) for line in sorted(comments))
            left.extend(finding for finding in findings if changed.suppressions.find(finding) is None)
        outcome.findings = left
        return added

    def _store(self, path: str, data: bytes) -> None:
        if path == STDIN:
            self._stdin = data
            self._provider.put(SourceFile.from_bytes(path, data))
            return
        try:
            with open(path, "wb") as file:
                file.write(data)
        except OSError as error:
            message = Message.of("source.unwritable", reason=reason_of(error))
            problem = Problem(path, 1, message)
            raise SourceError(problem.path, problem.line, problem.message) from None
        finally:
            self._provider.forget(path)

    # Output ----------------------------------------------------------------------------------------

    def _write(self, report: Report, stream: IO[str], output_format: str | None = None) -> None:
        ascii_only = "utf" not in (getattr(stream, "encoding", None) or "utf-8").lower()
        chosen = output_format or self._args.output_format
        if chosen == "json":
            text = as_json(report, ascii_only)
        elif chosen == "sarif":
            text = as_sarif(report, ascii_only)
        elif chosen == "github":
            text = as_github(report)
        elif chosen == "gitlab":
            text = as_gitlab(report, ascii_only)
        elif chosen == "concise":
            text = as_concise(report, Style(wants_colour(self._args.color, stream)))
        else:
            text = as_text(report, Style(wants_colour(self._args.color, stream)))
        stream.write(text)


def _write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

"""Results of earlier checks that still hold, and new ones to keep."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopgrad.checker import FileOutcome
from loopgrad.config import Config
from loopgrad.index import codec
from loopgrad.index.facts import Facts, Paths
from loopgrad.index.store import Result, Store, number_of, numbers, packed
from loopgrad.source import STDIN, FileProvider, Input
from loopgrad.source.asked import Asked

#: From so many files on it pays to read the whole index.
MANY = 200


@dataclass
class Hit:
    """A result that holds. The severities are those of the rules, as ``Checker.examine`` gives them."""

    outcome: FileOutcome
    #: The files that were read for it, itself among them.
    files: Callable[[], list[str]]


class Index:
    """One run's, or one server's, view of the results that are kept of a workspace.

    ``show_unused`` tells apart runs that look for comments that silence nothing.
    """

    def __init__(
        self, store: Store, provider: FileProvider, config: Config, root: str, *, show_unused: bool = False
    ) -> None:
        self._store = store
        self._provider = provider
        self._config = config
        self._paths = Paths(root)
        self._facts = Facts(store, provider, self._paths)
        self._show_unused = show_unused
        self._variants: dict[frozenset[str], str] = {}

    def find_all(self, items: Sequence[Input], *, fixes: bool) -> list[Hit | None]:
        """``find`` for each of them."""
        if len(items) >= MANY:
            self._store.read_ahead()
        try:
            return [self.find(item, fixes=fixes) for item in items]
        finally:
            self._store.let_go()

    def find(self, item: Input, *, fixes: bool) -> Hit | None:
        """What a check of the file would say, if that is known; ``fixes`` asks for those of each finding too."""
        if item.path == STDIN:
            return None
        kept = self._paths.keep(self._provider.absolute(item.path))
        result = self._store.result(kept, self._variant(item.path))
        if result is None or not (result.named == item.named or result.wanted):
            return None
        try:
            return self._restore(item, result, fixes)
        except (codec.CodecError, ValueError, TypeError, AttributeError, struct.error):
            return None  # it is not as we write it

    def _restore(self, item: Input, result: Result, fixes: bool) -> Hit | None:
        facts = numbers(result.modules)
        if not facts or not self._facts.hold(facts) or not self._checked_alike(result.checked):
            return None
        outcome = codec.load(result.outcome, item.path, lambda path: self._spell(path, item.path))
        if not fixes:
            outcome.findings = [replace(finding, fixes=()) for finding in outcome.findings]
        elif outcome.findings and not result.fixes:
            return None
        outcome.wanted = result.wanted
        return Hit(
            outcome, lambda: [self._provider.spell(self._facts.path(fact), item.path) for fact in facts]
        )

    def put(self, item: Input, outcome: FileOutcome, asked: Asked, *, fixes: bool) -> None:
        """Keeps what a check said, unless it was about this run alone."""
        path = self._provider.absolute(item.path)
        if item.path == STDIN or asked.passing or path not in asked.texts or _failed(outcome):
            return
        keep = self._paths.keep
        try:
            text = codec.dump(outcome, lambda path: keep(self._provider.absolute(path)))
        except codec.CodecError:
            return
        facts = self._facts.of(asked)
        checked = sorted((keep(other), answer) for other, answer in asked.checked.items())
        result = Result(
            keep(path),
            self._variant(item.path),
            item.named,
            outcome.wanted,
            fixes,
            packed(list(facts)),
            json.dumps(checked, separators=(",", ":")) if checked else "",
            text,
        )
        self._store.put(result, {number: fact for number, fact in facts.items() if fact is not None})

    def forget(self) -> None:
        """Files may have changed since the last look."""
        self._facts.forget()

    def rest(self) -> None:
        """Writes what has gathered, and tidies up now and then."""
        self._store.rest(self._exists)

    def close(self) -> None:
        self.rest()
        self._store.close()

    def _exists(self, kept: str) -> bool:
        return os.path.exists(self._paths.find(kept))

    # -------------------------------------------------------------------------------------------------

    def _variant(self, path: str) -> str:
        """What of the settings a result depends on."""
        enabled = self._config.enabled(path)
        if enabled not in self._variants:
            self._variants[enabled] = f"{number_of(repr((sorted(enabled), self._show_unused))):x}"
        return self._variants[enabled]

    def _checked_alike(self, checked: str) -> bool:
        return not checked or all(
            self._provider.is_checked(self._paths.find(kept)) == answer
            for kept, answer in json.loads(checked)
        )

    def _spell(self, kept: str, from_path: str) -> str:
        """A kept path as a check of ``from_path`` would write it."""
        path = self._paths.find(kept)
        return (
            from_path if path == self._provider.absolute(from_path) else self._provider.spell(path, from_path)
        )


def _failed(outcome: FileOutcome) -> bool:
    """Whether Loopgrad failed at it, which need not happen again."""
    messages = [part.reason for part in outcome.partial] + [problem.message for problem in outcome.problems]
    return any(message.key.startswith("check.") for message in messages)

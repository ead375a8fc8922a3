"""Settings: ``[tool.loopgrad]`` of the nearest ``pyproject.toml``, and what the command line says instead.

Nearest is meant for each checked file: the first folder upwards whose ``pyproject.toml`` has the section.
A code stands for itself, a beginning of one (``LG1``) for all codes that begin so, ``ALL`` for every rule.
What the command line selects or ignores takes the place of the same setting; a selection there also puts
aside the ``ignore`` of the settings.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from loopgrad.model import SEVERITIES, Finding, Message
from loopgrad.rules.catalogue import RULES, RuleInfo

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = ("select", "ignore", "exclude", "severity", "per-file-ignores", "cache-dir")


class ConfigError(Exception):
    """A mistake in the settings or in codes on the command line, as a sentence."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


def expand(codes: Iterable[str]) -> frozenset[str]:
    """The codes that ``LG1``, ``ALL`` and whole codes stand for; ConfigError for one that is unknown."""
    found: set[str] = set()
    for entry in codes:
        code = entry.strip().upper()
        matches = [rule for rule in RULES if code == "ALL" or (code and rule.startswith(code))]
        if not matches:
            raise ConfigError(unknown_code(entry.strip()))
        found.update(matches)
    return frozenset(found)


def unknown_code(code: str) -> Message:
    """The sentence on a code that is no rule's, with the one that was probably meant."""

    def likeness(rule: RuleInfo) -> float:
        return max(
            SequenceMatcher(None, code.upper(), rule.code).ratio(),
            SequenceMatcher(None, code.lower(), rule.name).ratio(),
        )

    closest = max(RULES.values(), key=likeness)  # the first of several
    if likeness(closest) >= 0.6:
        return Message.of("usage.unknown-code-suggest", code=repr(code), suggestion=closest.code)
    return Message.of("usage.unknown-code", code=repr(code))


@dataclass(frozen=True)
class Settings:
    """One ``[tool.loopgrad]``. ``root`` is the folder of its file, which patterns are relative to."""

    root: str = ""
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    exclude: tuple[str, ...] = ()
    severity: dict[str, str] = field(default_factory=dict)
    per_file_ignores: dict[str, frozenset[str]] = field(default_factory=dict)
    #: Where results are kept, an absolute path, or None for the usual place.
    cache_dir: str | None = None

    def matches(self, path: str, pattern: str) -> bool:
        """Whether a pattern names the file, its name alone, or a folder that it is in."""
        try:
            relative = os.path.relpath(os.path.abspath(path), self.root or os.getcwd())
        except ValueError:  # another drive
            relative = os.path.abspath(path)
        relative = relative.replace(os.sep, "/")
        pattern = pattern.removeprefix("./").rstrip("/")
        names = relative.split("/")
        beginnings = ["/".join(names[:count]) for count in range(1, len(names) + 1)]
        return any(fnmatch.fnmatchcase(name, pattern) for name in (*names, *beginnings))


def read_settings(path: str) -> Settings | None:
    """The settings in a ``pyproject.toml``, or None if it has no section of ours."""
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(Message.of("config.unreadable", path=path, reason=reason)) from None
    tool = document.get("tool")
    table = tool.get("loopgrad") if isinstance(tool, dict) else None
    if table is None:
        return None
    return _Reader(path).settings(table)


class _Reader:
    """Checks one section and names what is wrong with it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def settings(self, table: Any) -> Settings:
        if not isinstance(table, dict):
            raise self._error("config.type", setting="tool.loopgrad", expected=Message.of("config.table"))
        for key in table:
            if key not in KEYS:
                close = difflib.get_close_matches(key.replace("_", "-"), KEYS, 1)
                if close:
                    raise self._error("config.unknown-key-suggest", setting=repr(key), suggestion=close[0])
                raise self._error("config.unknown-key", setting=repr(key))
        root = os.path.dirname(os.path.abspath(self._path))
        return Settings(
            root=root,
            select=self._codes("select", table["select"]) if "select" in table else None,
            ignore=self._codes("ignore", table.get("ignore", [])),
            exclude=tuple(self._strings("exclude", table.get("exclude", []))),
            severity=self._severity(self._table("severity", table.get("severity", {}))),
            per_file_ignores={
                pattern: self._codes("per-file-ignores", codes)
                for pattern, codes in self._table(
                    "per-file-ignores", table.get("per-file-ignores", {})
                ).items()
            },
            cache_dir=self._folder("cache-dir", table["cache-dir"], root) if "cache-dir" in table else None,
        )

    def _folder(self, key: str, value: Any, root: str) -> str:
        if not isinstance(value, str) or not value:
            raise self._error("config.type", setting=key, expected=Message.of("config.string"))
        return os.path.normpath(os.path.join(root, os.path.expanduser(value)))

    def _severity(self, table: dict[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        choices = (*SEVERITIES, "off")
        for entry in sorted(table, key=len):  # whole codes win over their beginnings
            value = table[entry]
            if value not in choices:
                raise self._error("config.severity", code=entry, value=repr(value), choices=choices)
            found.update(dict.fromkeys(self._codes("severity", [entry]), value))
        return found

    def _codes(self, key: str, value: Any) -> frozenset[str]:
        try:
            return expand(self._strings(key, value))
        except ConfigError as error:
            if error.message.key.startswith("config."):
                raise
            raise self._error("config.code", setting=key, problem=error.message) from None

    def _strings(self, key: str, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise self._error("config.type", setting=key, expected=Message.of("config.strings"))
        return value

    def _table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error("config.type", setting=key, expected=Message.of("config.table"))
        return value

    def _error(self, key: str, **args: Any) -> ConfigError:
        return ConfigError(Message.of(key, path=self._path, **args))


class Config:
    """The settings of every file: those of its folder under those of the command line."""

    def __init__(self, select: Iterable[str] | None = None, ignore: Iterable[str] | None = None) -> None:
        self._select = None if select is None else expand(select)
        self._ignore = None if ignore is None else expand(ignore)
        #: By folder as it was written, and by its absolute path.
        self._folders: dict[str, Settings] = {}

    def settings(self, path: str) -> Settings:
        """The nearest settings of a file; of the working folder for standard input."""
        written = os.path.dirname(path)
        found = self._folders.get(written)
        if found is None:
            found = self._folders[written] = self._nearest(os.path.dirname(os.path.abspath(path)))
        return found

    def _nearest(self, folder: str) -> Settings:
        passed: list[str] = []
        here = folder
        found: Settings | None = None
        while found is None:
            found = self._folders.get(here)
            if found is None:
                passed.append(here)
                file = os.path.join(here, "pyproject.toml")
                found = read_settings(file) if os.path.isfile(file) else None
                parent = os.path.dirname(here)
                if found is None and parent == here:
                    found = Settings()
                here = parent
        self._folders.update(dict.fromkeys(passed, found))
        return found

    def enabled(self, path: str) -> frozenset[str]:
        """The codes of the rules that run on a file."""
        settings = self.settings(path)
        chosen = self._select if self._select is not None else settings.select
        if chosen is None:
            chosen = frozenset(code for code, rule in RULES.items() if rule.default_on)
        ignored = settings.ignore if self._ignore is None and self._select is None else self._ignore
        off = {code for code, severity in settings.severity.items() if severity == "off"}
        if self._select is not None:
            off -= self._select
        for pattern, codes in settings.per_file_ignores.items():
            if settings.matches(path, pattern):
                off |= codes
        return chosen - (ignored or frozenset()) - off

    def severity(self, finding: Finding) -> str:
        """The severity that the settings give a finding, else its own."""
        severity = self.settings(finding.path).severity.get(finding.code, finding.severity)
        return finding.severity if severity == "off" else severity

    def excluded(self, path: str) -> bool:
        """Whether a search of a folder passes over this file or folder."""
        settings = self.settings(path)
        return any(settings.matches(path, pattern) for pattern in settings.exclude)

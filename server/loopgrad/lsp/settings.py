"""Settings as editors keep them, by workspace folder, and what a client says of itself at the start.

A client that answers ``workspace/configuration`` is asked for the section ``loopgrad`` of each folder; one that
does not sends its settings in ``initializationOptions.settings`` or with ``workspace/didChangeConfiguration``.
What is missing or of a wrong type is taken as not set: a mistake in a settings file costs no diagnostics.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopgrad.lsp.wire import FolderSettings

ON_SAVE, ON_TYPE = "onSave", "onType"


@dataclass(frozen=True)
class Settings:
    """One folder's settings."""

    enable: bool = True
    run: str = ON_SAVE
    #: Seconds without a change after which a document is checked while typing.
    debounce: float = 0.3
    show_syntax_errors: bool = False
    diagnostic_mode: str = "openFilesOnly"
    show_notifications: str = "off"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    ignore_patterns: tuple[str, ...] = ()
    code_lens: bool = True

    @classmethod
    def read(cls, section: Any) -> Settings:
        """From the section ``loopgrad``, nested as in JSON or with dotted names."""
        get = _Section(section)
        return cls(
            enable=get.flag("lint.enable", True),
            run=get.choice("lint.run", (ON_SAVE, ON_TYPE)),
            debounce=get.number("lint.debounce", 300) / 1000,
            show_syntax_errors=get.flag("lint.showSyntaxErrors", False),
            diagnostic_mode=get.choice("diagnosticMode", ("openFilesOnly", "workspace", "off")),
            show_notifications=get.choice("showNotifications", ("off", "onError", "onWarning", "always")),
            select=get.strings("select"),
            ignore=get.strings("ignore"),
            severity=get.severities("severity"),
            ignore_patterns=get.strings("ignorePatterns"),
            code_lens=get.flag("codeLens", True),
        )

    @property
    def active(self) -> bool:
        return self.enable and self.diagnostic_mode != "off"

    @property
    def on_type(self) -> bool:
        return self.run == ON_TYPE

    def wire(self, root: str) -> FolderSettings:
        """What of it the worker has to know."""
        return FolderSettings(root, self.select, self.ignore, self.severity, self.ignore_patterns)


class _Section:
    """Reads one section; every method gives a default for what is not there or not as it should be."""

    def __init__(self, section: Any) -> None:
        self._section = section if isinstance(section, Mapping) else {}

    def value(self, name: str) -> Any:
        if name in self._section:
            return self._section[name]
        found: Any = self._section
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    def flag(self, name: str, default: bool) -> bool:
        value = self.value(name)
        return value if isinstance(value, bool) else default

    def number(self, name: str, default: float) -> float:
        value = self.value(name)
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 60_000
        return float(value) if good else default

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.value(name)
        return value if isinstance(value, str) and value in choices else choices[0]

    def strings(self, name: str) -> tuple[str, ...]:
        value = self.value(name)
        if not isinstance(value, (list, tuple)):
            return ()
        return tuple(part.strip() for part in value if isinstance(part, str) and part.strip())

    def severities(self, name: str) -> tuple[tuple[str, str], ...]:
        value = self.value(name)
        if not isinstance(value, Mapping):
            return ()
        found = {}
        for code, severity in value.items():
            normal = _SEVERITIES.get(str(severity).lower())
            if isinstance(code, str) and normal:
                found[code] = normal
        return tuple(sorted(found.items()))


#: The words that other extensions use as well.
_SEVERITIES = {
    "error": "error",
    "warning": "warning",
    "information": "information",
    "info": "information",
    "off": "off",
    "none": "off",
}


@dataclass
class SettingsStore:
    """The settings of every folder; ``general`` are those of files in none."""

    general: Settings = Settings()
    folders: dict[str, Settings] = field(default_factory=dict)

    def of(self, path: str) -> Settings:
        inside = [
            root for root in self.folders if path == root or path.startswith(root.rstrip(os.sep) + os.sep)
        ]
        return self.folders[max(inside, key=len)] if inside else self.general

    def wire(self) -> tuple[FolderSettings, ...]:
        general = self.general.wire("")
        return (general, *(settings.wire(root) for root, settings in sorted(self.folders.items())))

    @property
    def whole_workspace(self) -> bool:
        """Whether some folder wants all of its files checked unasked."""
        return any(each.active and each.diagnostic_mode == "workspace" for each in self._each())

    def _each(self) -> tuple[Settings, ...]:
        return tuple(self.folders.values()) or (self.general,)


@dataclass(frozen=True)
class Client:
    """What a client says of itself in ``initializationOptions`` (see ``docs/editors/protocol.md``)."""

    #: Whether rule pages open at ``uri_scheme://extension/rules/LG101``, which the extension answers.
    is_vscode: bool = False
    uri_scheme: str = "vscode"
    extension: str = "loopgrad.loopgrad"
    #: Commands that the client itself carries out.
    commands: frozenset[str] = frozenset()
    #: "push" or "pull" to ask for one way of diagnostics; "" leaves it to the capabilities.
    diagnostics: str = ""
    #: Whether the client takes ``loopgrad/status`` notifications.
    status: bool = False
    settings: Any = None

    @classmethod
    def read(cls, options: Any) -> Client:
        get = _Section(options)
        diagnostics = get.value("diagnostics")
        return cls(
            is_vscode=get.value("client") == "vscode",
            uri_scheme=_word(get.value("uriScheme"), "vscode"),
            extension=_word(get.value("extensionId"), "loopgrad.loopgrad"),
            commands=frozenset(get.strings("commands")),
            diagnostics=diagnostics if diagnostics in ("push", "pull") else "",
            status=get.flag("status", False),
            settings=get.value("settings"),
        )


def _word(value: Any, default: str) -> str:
    return value if isinstance(value, str) and value else default

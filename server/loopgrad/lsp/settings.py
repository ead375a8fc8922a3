"""Settings as editors keep them, by workspace folder.

A client that answers ``workspace/configuration`` is asked for the section ``loopgrad`` of each folder; one that
does not sends its settings in ``initializationOptions.settings`` or with ``workspace/didChangeConfiguration``.
What is missing or of a wrong type is taken as not set: a mistake in a settings file costs no diagnostics.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopgrad.lsp.client import Section
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
        get = Section(section)
        return cls(
            enable=get.flag("lint.enable", True),
            run=get.choice("lint.run", (ON_SAVE, ON_TYPE)),
            debounce=get.number("lint.debounce", 300) / 1000,
            show_syntax_errors=get.flag("lint.showSyntaxErrors", False),
            diagnostic_mode=get.choice("diagnosticMode", ("openFilesOnly", "workspace", "off")),
            show_notifications=get.choice("showNotifications", ("off", "onError", "onWarning", "always")),
            select=get.strings("select"),
            ignore=get.strings("ignore"),
            severity=_severities(get.value("severity")),
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


def _severities(value: Any) -> tuple[tuple[str, str], ...]:
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

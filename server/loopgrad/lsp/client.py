"""What a client says of itself in ``initialize``: all that has to be known before the server answers.

The answer is what an editor waits for, so this module and ``server`` load little else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: The kind of the code action that fixes a file, and the command that the client carries out itself.
FIX_ALL = "source.fixAll.loopgrad"
CONFIRM = "loopgrad.confirm"
SHOW_EXPLANATION = "loopgrad.showExplanation"

#: The server's own commands.
COMMANDS = ("checkWorkspace", "confirmed", "explain", "fixAll", "fromTraceback")


class Section:
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


class Client(NamedTuple):
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
        get = Section(options)
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

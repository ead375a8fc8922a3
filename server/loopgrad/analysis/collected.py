"""Lists, dicts, sets and modules' variables of the analysed program: subclasses of Python's own.

They stand by themselves because mypyc compiles no class like these (see setup.py).
"""

from __future__ import annotations

from typing import Any


class LList(list):
    """A list; ``open`` where it may hold more elements than these, ``unsure`` where it may hold none of them."""

    __slots__ = ("bounded", "open", "unsure")

    def __init__(self, items: Any = (), open: bool = False, bounded: int | None = None) -> None:
        super().__init__(items)
        self.open = open
        self.bounded = bounded
        self.unsure = False

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


class LDict(dict):
    """A dict; ``factory`` as in defaultdict; ``open`` where it may hold more keys than these."""

    __slots__ = ("factory", "open")

    def __init__(self, items: Any = (), open: bool = False, factory: Any = None) -> None:
        super().__init__(items)
        self.open = open
        self.factory = factory

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


class LSet(set):
    __slots__ = ("open",)

    def __init__(self, items: Any = (), open: bool = False) -> None:
        super().__init__(items)
        self.open = open

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


class Globals(dict[str, Any]):
    """A module's variables. ``waiting`` holds what makes those that nobody has read yet; it is run with ``frame``, that
    of the module's body."""

    __slots__ = ("frame", "waiting")

    def __init__(self) -> None:
        self.frame: Any = None
        self.waiting: dict[str, Any] = {}

    def clear(self) -> None:
        """Let go of what refers back to it, at the end of the run."""
        super().clear()
        self.frame, self.waiting = None, {}

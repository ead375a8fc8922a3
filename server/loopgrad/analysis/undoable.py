"""What a run writes can be taken back: a tried branch notes the first old value of everything that it changes."""

from __future__ import annotations

from typing import Any

from .undo import WHOLE, Log, Slot
from .values import MISSING


class Undoable:
    """The writing half of a run: while a branch is tried, ``log`` remembers what was there before."""

    log: Log | None

    def put(self, table: dict, key: Any, value: Any) -> None:
        if self.log is not None:
            self.note(table, key)
        table[key] = value

    def note(self, table: dict, key: Any) -> None:
        log = self.log
        if log is not None:
            mark = (id(table), key)
            if mark not in log:
                log[mark] = (table, key, table.get(key, MISSING))

    def note_list(self, items: list) -> None:
        log = self.log
        if log is not None:
            mark = (id(items), WHOLE)
            if mark not in log:
                log[mark] = (items, WHOLE, list(items))

    def note_set(self, items: set) -> None:
        log = self.log
        if log is not None:
            mark = (id(items), WHOLE)
            if mark not in log:
                log[mark] = (items, WHOLE, set(items))

    def note_slot(self, obj: Any, slot: str) -> None:
        log = self.log
        if log is not None:
            key = Slot(slot)
            mark = (id(obj), Slot, slot)
            if mark not in log:
                log[mark] = (obj, key, getattr(obj, slot))

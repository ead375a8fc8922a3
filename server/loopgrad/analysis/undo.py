"""What a run writes can be taken back: a tried branch notes the first old value of everything that it changes."""

from __future__ import annotations

from typing import Any

from .values import MISSING


class Slot(str):
    """The name of a Python attribute that was written, as the key of a log: no key of any dictionary."""

    __slots__ = ()


class _Whole:
    """The key of a log for all that a list or a set holds."""


WHOLE = _Whole()


class Log(dict):
    """First old values of everything written: ``(id, key) -> (object, key, old value)``.

    The key is a dictionary's own, a ``Slot`` of an object, or ``WHOLE`` of a list or a set.
    """

    def undo(self) -> None:
        for obj, key, old in self.values():
            if key is WHOLE and isinstance(obj, list):
                obj[:] = old
            elif key is WHOLE:
                obj.clear()
                obj.update(old)
            elif type(key) is Slot:
                setattr(obj, key, old)
            elif old is MISSING:
                obj.pop(key, None)
            else:
                obj[key] = old


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

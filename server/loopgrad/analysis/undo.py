"""The log of a tried branch: the first old value of everything that it changes, to be put back."""

from __future__ import annotations

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

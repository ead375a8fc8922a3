"""The words that rules share: lists of names, places, and what changed a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from loopgrad.model import Message

#: How many names a sentence says before it counts the rest.
MOST_NAMES = 3


def names(of: Sequence[str]) -> Message:
    """``'a'``, ``'a' and 'b'``, ``'a', 'b' and 'c'``, ``'a', 'b' and 4 more``."""
    several = tuple(quotable(name) for name in dict.fromkeys(of))
    if not several:
        return Message.of("fix.this")
    if len(several) == 1:
        return Message.of("names.one", a=several[0])
    if len(several) == 2:
        return Message.of("names.two", a=several[0], b=several[1])
    if len(several) == MOST_NAMES:
        return Message.of("names.three", a=several[0], b=several[1], c=several[2])
    return Message.of("names.more", a=several[0], b=several[1], count=len(several) - 2)


def quotable(name: str) -> str:
    """A name that can stand in single quotes: ``history["loss"]``."""
    return name.replace("'", '"')


def counted(key: str, of: Sequence[str]) -> str:
    """The key's form for so many names: ``.none``, ``.one`` or ``.many``."""
    number = len(set(of))
    return f"{key}.{'none' if number == 0 else 'one' if number == 1 else 'many'}"


#: What the engine calls a change, and the keys that say it.
_CHANGES = {"step", "load_state_dict", "setitem", "init", "vector_to_parameters"}


def change(what: str) -> Message:
    """What changed a tensor in place: a step of the optimizer, ``add_()``, an assignment to a part."""
    if what in _CHANGES:
        return Message.of(f"change.{what}")
    return Message.of("change.call" if what.endswith("_") else "change.other", what=what)

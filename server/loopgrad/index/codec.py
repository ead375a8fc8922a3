"""Outcomes as JSON and back: plain data alone, so that reading a file of somebody else's can run nothing.

An object is a list that begins with the name of its class, one of those below; ``t`` begins a tuple and ``l`` a
list. Fields named ``path`` go through ``respell``: they are kept relative to the workspace and come back as the
running check spells them. Requests for fixes stay out: they are made from a tree that is gone.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from loopgrad.checker import FileOutcome, UnusedIgnore
from loopgrad.model import Edit, Finding, Fix, Message, Partial, Problem, Range, TraceStep, WitnessStep

_CLASSES: dict[str, Any] = {
    each.__name__: each
    for each in (Edit, Finding, Fix, Message, Partial, Problem, Range, TraceStep, UnusedIgnore, WitnessStep)
}
#: Their fields, in the order in which they are written.
_FIELDS = {
    name: tuple(field.name for field in dataclasses.fields(kind) if field.name != "requests")
    for name, kind in _CLASSES.items()
}

Respell = Callable[[str], str]


class CodecError(Exception):
    """A value that has no form here, or a text that is the form of nothing."""


def dump(outcome: FileOutcome, respell: Respell) -> str:
    """An outcome's text; "" for one that says nothing. The file's own path is not part of it."""
    if not (outcome.findings or outcome.partial or outcome.problems or outcome.used or outcome.comments):
        return ""
    return json.dumps(
        [
            _plain(outcome.findings, respell),
            _plain(outcome.partial, respell),
            _plain(outcome.problems, respell),
            [[respell(path), line, entry] for path, line, entry in sorted(outcome.used)],
            [[entry, _plain(unused, respell)] for entry, unused in outcome.comments],
        ],
        separators=(",", ":"),
    )


def load(text: str, path: str, respell: Respell) -> FileOutcome:
    """The outcome of the file ``path``; CodecError if the text is not what ``dump`` writes."""
    if not text:
        return FileOutcome(path)
    try:
        findings, partial, problems, used, comments = json.loads(text)
        return FileOutcome(
            path,
            _live(findings, respell),
            _live(partial, respell),
            _live(problems, respell),
            {(respell(where), int(line), str(entry)) for where, line, entry in used},
            [(str(entry), _live(unused, respell)) for entry, unused in comments],
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise CodecError(str(error)) from error


def _plain(value: Any, respell: Respell) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return ["l", *(_plain(part, respell) for part in value)]
    if isinstance(value, tuple):
        return ["t", *(_plain(part, respell) for part in value)]
    kind = type(value)
    if _CLASSES.get(kind.__name__) is not kind:
        raise CodecError(kind.__name__)
    parts = [kind.__name__]
    for name in _FIELDS[kind.__name__]:
        part = getattr(value, name)
        if name == "path":
            parts.append(respell(part))
        elif name == "raised_at" and part is not None:
            parts.append(_plain((respell(part[0]), part[1]), respell))
        else:
            parts.append(_plain(part, respell))
    return parts


def _live(value: Any, respell: Respell) -> Any:
    if not isinstance(value, list):
        return value
    kind, *parts = value
    if kind == "l":
        return [_live(part, respell) for part in parts]
    if kind == "t":
        return tuple(_live(part, respell) for part in parts)
    made = _CLASSES[kind]
    names = _FIELDS[kind]
    if len(names) != len(parts):
        raise ValueError(kind)
    fields = {name: _live(part, respell) for name, part in zip(names, parts)}
    if "path" in fields:
        fields["path"] = respell(fields["path"])
    if fields.get("raised_at") is not None:
        path, where = fields["raised_at"]
        fields["raised_at"] = (respell(path), where)
    return made(**fields)

"""The rules: what the engine saw, put into words, with what could mend it.

``check`` gives one file's findings. Each rule is one module here, one page of documentation in ``pages/`` and
one line of ``catalogue``; it reads what the engine observed and never looks at a value itself. A finding's
fixes are asked for as plain data (``candidates/``) and tried out later, by ``loopgrad.fixes``.

``catalogue`` can be read without loading the engine, so ``check`` is loaded when it is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopgrad.model import FileResult
    from loopgrad.source import Provider, SourceFile


def check(source: SourceFile, provider: Provider, *, select: frozenset[str] | None = None) -> FileResult:
    """The findings of one file. ``select`` names the rules to run, None those that are on by default."""
    from .run import check as run

    return run(source, provider, select=select)


__all__ = ["check"]

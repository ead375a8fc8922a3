"""Fixes: from what a rule asks for to edits that were tried out.

``offer`` gives the checked fixes of a finding, ``fix_all`` and ``fix_workspace`` apply the preferred ones,
``apply`` puts edits into a text. The operations a rule can ask for are listed in ``edits``.
"""

from .check import offer
from .everything import fix_all, fix_workspace
from .text import EditError, apply

__all__ = ["EditError", "apply", "fix_all", "fix_workspace", "offer"]

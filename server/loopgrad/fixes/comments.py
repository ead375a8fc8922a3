"""The comment that silences a line."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from loopgrad.model import Range
from loopgrad.source.suppress import COMMENT

from .locate import statement_holding
from .regions import region
from .snippet import Snippet, folds
from .text import Document, EditError, Splice

End = cst.TrailingWhitespace


def suppress(doc: Document, range_: Range, code: str) -> list[Splice]:
    """Add ``# loopgrad: ignore[CODE]`` to the line, or the code to the comment that is there.

    A line that ends inside a string or is joined to the next cannot take a comment: then it goes to the end
    of the logical line.
    """
    place = statement_holding(doc, *doc.span(range_))
    around = region(place, place)
    kept = {id(each.node) for each in (place, *place.outers)}
    folded = [fold for _, fold in folds(doc, around.nodes, kept)]
    snippet = Snippet(doc, around.start, around.end, around.indent, stand_ins=folded)
    # Each end of a line is given a comment of its own: so it shows on which line it is.
    mark = f"#{doc.unused}"
    ends = _Ends(lambda number, end: end.with_changes(comment=cst.Comment(f"{mark}{number}")))
    marked = cst.ensure_type(snippet.module.visit(ends), cst.Module)
    lines = {int(text.rpartition(mark)[2]): line for line, text in snippet.lines(doc, marked) if mark in text}
    here = [number for number, line in lines.items() if line == range_.line]
    below = sorted((line, number) for number, line in lines.items() if number not in ends.inner)
    chosen = here[0] if here else next((number for line, number in below if line >= range_.line), None)
    if chosen is None:
        raise EditError("no line to comment on")
    silenced = _Ends(lambda number, end: _silenced(end, code) if number == chosen else end)
    return snippet.splices(cst.ensure_type(snippet.module.visit(silenced), cst.Module))


class _Ends(cst.CSTTransformer):
    """Writes the ends of lines, counted as they come; those ``inner`` are inside of parentheses."""

    def __init__(self, write: Callable[[int, End], End]) -> None:
        super().__init__()
        self.write = write
        self.count = 0
        self.inner: set[int] = set()
        self._inside = False

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return False

    def visit_ParenthesizedWhitespace(self, node: cst.ParenthesizedWhitespace) -> None:
        self._inside = True

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        self._inside = False
        return updated_node

    def leave_TrailingWhitespace(self, original_node: End, updated_node: End) -> End:
        number, self.count = self.count, self.count + 1
        if self._inside:
            self.inner.add(number)
        return self.write(number, updated_node)


def _silenced(end: End, code: str) -> End:
    new = f"# loopgrad: ignore[{code}]"
    if end.comment is None:
        # Blanks at the end of the line stay there.
        comment = cst.Comment(new + end.whitespace.value)
        return end.with_changes(whitespace=cst.SimpleWhitespace("  "), comment=comment)
    text = end.comment.value
    for found in COMMENT.finditer(text):
        if found[1]:
            continue
        if found[2] is None or code in [each.strip().upper() for each in found[2].split(",")]:
            raise EditError("silenced already")
        added = f", {code}" if found[2].strip() else code
        return end.with_changes(comment=cst.Comment(text[: found.end(2)] + added + text[found.end(2) :]))
    length = len(text.rstrip())
    return end.with_changes(comment=cst.Comment(f"{text[:length]}  {new}{text[length:]}"))

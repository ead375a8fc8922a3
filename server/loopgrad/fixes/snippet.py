"""A stretch of statements as libcst reads it: the smallest text that holds an edit.

libcst reads modules. What stands in an indented block is therefore given a header to stand under, and what an
edit does not touch, the blocks of a compound statement, a name to stand in for it. Once the tree is changed,
its code is compared with the text that was read, and what differs is put in terms of the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

import libcst as cst

from .difference import difference
from .locate import blocks, statement_start
from .text import LINE_BREAK, Document, EditError, Splice, merged, shifted, spliced

#: A form feed on a page's first line is no part of the indentation, and libcst drops it.
_FORM_FEEDS = re.compile(r"(?<![^\r\n])\f+")


class Snippet:
    """The statements in ``[start, end)`` of a document, as a libcst tree.

    ``start`` is the start of a line, or with ``within_line`` that of a statement. ``stand_ins`` replace what is
    not to be read, ``done`` is what other edits make of the text. All are offsets in the document. Raises
    EditError where libcst cannot read the text.
    """

    def __init__(
        self,
        doc: Document,
        start: int,
        end: int,
        indent: str,
        *,
        stand_ins: Sequence[Splice] = (),
        done: Sequence[Splice] = (),
        within_line: bool = False,
    ) -> None:
        self.start = start
        original = doc.text[start:end]
        feeds = [Splice(start + m.start(), start + m.end(), "") for m in _FORM_FEEDS.finditer(original)]
        feeds = [feed for feed in feeds if not any(s.start <= feed.start < s.end for s in stand_ins)]
        taken = [Splice(s.start - start, s.end - start, s.text) for s in merged([*stand_ins, *feeds])]
        self._read = spliced(original, taken)
        self._names = {s.text: original[s.start : s.end] for s in taken if s.text}
        self._back = list(_inverse(original, taken))
        # The first block tells libcst the file's unit of indentation and line ends, the second takes the text.
        newline = doc.newline
        self._prelude = f"if 1:{newline}{doc.unit}pass{newline}"
        self._prelude += f"if 1:{newline}{indent}pass{newline}" if indent else f"pass{newline}"
        self._prelude += indent if within_line else ""
        text = spliced(self._read, self._moved(taken, done))
        self.module = self._parsed(text)
        if feeds and self.code(self._parsed(spliced(original, [s for s in taken if s.text]))) != self._read:
            raise EditError("a form feed that is part of a string")

    def _moved(self, taken: Sequence[Splice], done: Sequence[Splice]) -> list[Splice]:
        def there(offset: int, *, after: bool) -> int:
            return shifted(taken, offset - self.start, after=after)

        return [Splice(there(s.start, after=True), there(s.end, after=True), s.text) for s in done]

    def _parsed(self, text: str) -> cst.Module:
        try:
            module = cst.parse_module(self._prelude + text)
        except (cst.ParserSyntaxError, UnicodeError) as error:
            raise EditError("libcst cannot read the statement") from error
        if text.endswith(("\r", "\n")):
            # libcst sees none in "\r", nor behind a comment that ends with a backslash.
            module = module.with_changes(has_trailing_newline=True)
        if self.code(module) != text and not _FORM_FEEDS.search(text):
            raise EditError("libcst does not give the statement back as it is")
        return module

    def code(self, module: cst.Module) -> str:
        return module.code[len(self._prelude) :]

    def splices(self, module: cst.Module) -> list[Splice]:
        """What the changed tree does to the document, as small as it can be."""
        return [
            Splice(
                self.start + shifted(self._back, splice.start, after=splice.end > splice.start),
                self.start + shifted(self._back, splice.end, after=False),
                self._written(splice.text),
            )
            for splice in difference(self._read, self.code(module))
        ]

    def _written(self, text: str) -> str:
        for name, original in self._names.items():
            text = text.replace(name, original)
        return text

    def lines(self, doc: Document, module: cst.Module) -> Iterator[tuple[int, str]]:
        """The lines of the tree, if they are as many as were read, each with its number in the document."""
        starts = Document(self._read).starts
        texts = LINE_BREAK.split(module.code)[self._prelude.count(doc.newline) :]
        for start, text in zip(starts, texts):
            yield doc.line_of(self.start + shifted(self._back, start, after=True)), text


def _inverse(text: str, splices: Sequence[Splice]) -> Iterator[Splice]:
    """What turns the text back that the splices were done to; in terms of that text."""
    for splice in splices:
        start = shifted(splices, splice.start, after=False)
        yield Splice(start, start + len(splice.text), text[splice.start : splice.end])


def in_lines_of(doc: Document, text: str) -> str:
    """A fix's text with the line ends of the file."""
    return text.replace("\r\n", "\n").replace("\n", doc.newline)


# -- the statements of both trees


def folds(
    doc: Document, nodes: Sequence[ast.stmt], kept: Collection[int] = (), whole: Collection[int] = ()
) -> Iterator[tuple[int, Splice]]:
    """The blocks below these statements that need not be read: each one's id, and a name in its place.

    ``kept`` are the ids of statements that an edit is at or inside of, ``whole`` of those to be read as they are.
    """
    for node in nodes:
        for _, block in blocks(node) if id(node) not in whole else ():
            start = statement_start(doc, block[0])
            is_elif = isinstance(block[0], ast.If) and doc.text.startswith("elif", start)
            if is_elif or any(id(each) in kept for each in block):
                yield from folds(doc, block, kept, whole)
            else:
                yield id(block), Splice(start, doc.node_span(block[-1])[1], f"{doc.unused}{start}_")


def in_order(nodes: Sequence[ast.stmt], folded: Collection[int]) -> Iterator[ast.stmt | None]:
    """The statements in the order of the text, None for what stands in for a block."""
    for node in nodes:
        yield node
        for _, block in blocks(node):
            if id(block) in folded:
                yield None
            else:
                yield from in_order(block, folded)


class Statements(cst.CSTVisitor):
    """The statements of a snippet in the order of the text, without those it was given to stand under.

    ``lines`` tells of a small statement the line, or the one-line suite, that it is part of.
    """

    def __init__(self, snippet: Snippet, nodes: Sequence[ast.stmt], folded: Collection[int]) -> None:
        self._found: list[cst.CSTNode] = []
        self.lines: dict[cst.CSTNode, cst.SimpleStatementLine | cst.SimpleStatementSuite] = {}
        snippet.module.visit(self)
        expected = list(in_order(nodes, folded))
        ours = self._found[len(self._found) - len(expected) :]
        if len(ours) != len(expected):
            raise EditError("libcst sees other statements")
        self.of = {id(node): found for node, found in zip(expected, ours) if node is not None}

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            self._found.append(node)
        if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            self.lines.update(dict.fromkeys(node.body, node))
        return not isinstance(node, (cst.BaseExpression, cst.BaseSmallStatement))

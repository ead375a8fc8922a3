"""Operations on expressions: append, replace, delete_argument, strip_call, assign.

Each takes a document and a range and returns splices. They insert around what the user wrote rather than
write it anew, so that two of them can work on nested expressions in one fix, and so that comments and line
breaks inside stay where they are. Where commas and the blanks around them have to be weighed (taking an
argument out of a call), libcst does it: it knows which blanks belong to which argument.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopgrad.model import Range

from .locate import (
    Expression,
    expression,
    expression_in,
    grouping,
    statement,
    statement_holding,
    tokens,
)
from .statements import remove
from .text import Document, EditError, Splice, document, spliced

if TYPE_CHECKING:
    import libcst as cst

#: Expressions that take ``.name`` directly; all others need parentheses first.
_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.JoinedStr,
)

#: At one offset: what closes the inner expression comes first, what opens the outer one comes first.
_OPENING = 1 << 40


def _opens(start: int, end: int, text: str) -> Splice:
    return Splice(start, start, text, rank=_OPENING - (end - start))


def _closes(start: int, end: int, text: str) -> Splice:
    return Splice(end, end, text, rank=end - start)


def _loaded(found: Expression) -> Expression:
    """The expression, refused where it is a target rather than a value."""
    if isinstance(found.node, ast.Slice) or isinstance(
        getattr(found.node, "ctx", None), (ast.Store, ast.Del)
    ):
        raise EditError("not a value")
    return found


def _atomic(doc: Document, node: ast.expr) -> bool:
    if isinstance(node, _ATOMS):
        return True
    if isinstance(node, (ast.Tuple, ast.GeneratorExp)):
        return _closed(doc, node)
    return isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, complex))


def _closed(doc: Document, node: ast.expr) -> bool:
    """Whether a tuple's or generator's own parentheses are part of it.

    >>> doc = document("(a), (b)")
    >>> _closed(doc, doc.tree.body[0].value)
    False
    """
    source = doc.source(node)
    if not (source.startswith("(") and source.endswith(")")):
        return False
    if isinstance(node, ast.Tuple) and node.elts:
        # Were the parentheses not the tuple's, its stretch would start with its first element's.
        try:
            inner = ast.parse(f"[{source}\n]", mode="eval").body
        except SyntaxError:
            return False
        return isinstance(inner, ast.List) and len(inner.elts) == 1 and isinstance(inner.elts[0], ast.Tuple)
    return True


def _lends_parentheses(found: Expression) -> bool:
    """Whether this is the generator of ``f(x for x in y)``, whose parentheses are the call's."""
    node, parent = found.node, found.parent
    if not (isinstance(node, ast.GeneratorExp) and isinstance(parent, ast.Call) and parent.args == [node]):
        return False
    # ``f((x for x in y))`` has both pairs, and then the call ends later.
    return found.span[1] == found.doc.node_span(parent)[1]


def append(doc: Document, range_: Range, text: str) -> list[Splice]:
    """Append ``text`` to an expression: ``a - b`` and ``.detach()`` make ``(a - b).detach()``."""
    found = _loaded(expression(doc, range_))
    if isinstance(found.node, ast.Starred):
        found = Expression(doc, found.node.value, (*found.chain, found.node))
    start, end = found.span
    if _lends_parentheses(found):
        return [_opens(start, end, "("), _closes(start, end, f"{text})")]
    around = grouping(found)
    if around:
        return [_closes(*around, text)]
    if _atomic(doc, found.node):
        return [_closes(start, end, text)]
    return [_opens(start, end, "("), _closes(start, end, f"){text}")]


def replace(doc: Document, range_: Range, text: str) -> list[Splice]:
    """Replace an expression by ``text``, in which ``{0}`` stands for what was there.

    Parentheses are put around it where the new expression would otherwise be torn apart: ``b`` of ``a * b``
    replaced by ``c + d`` gives ``a * (c + d)``. That is found out by trying.
    """
    found = _loaded(expression(doc, range_))
    start, end = found.span
    text = text.replace("\r\n", "\n").replace("\n", doc.newline)
    pieces = _filled(text, doc.text[start:end], found.node)
    for opening, closing in (("", ""), ("(", ")")):
        pieces[0] = opening + pieces[0]
        pieces[-1] += closing
        new = doc.text[start:end].join(pieces)
        changed = document(spliced(doc.text, [Splice(start, end, new)]))
        if _stands(changed, start, new):
            break
    else:
        raise EditError("the new expression does not fit")
    if len(pieces) == 2:
        return [_opens(start, end, pieces[0]), _closes(start, end, pieces[1])]
    return [Splice(start, end, new)]


def _filled(text: str, old: str, node: ast.expr) -> list[str]:
    """The text cut at each ``{0}``, with parentheses about those that what was there cannot do without.

    >>> _filled("{0} * f({0})", "a - b", ast.parse("a - b").body[0].value)
    ['(', ') * f(', ')']
    """
    pieces = text.split("{0}")
    wanted = ast.dump(_Fill(node).visit(expression_in("__old__".join(pieces))))
    pieces = [
        (")" if i else "") + piece + ("(" if i + 1 < len(pieces) else "") for i, piece in enumerate(pieces)
    ]
    for i in range(len(pieces) - 1):
        kept = pieces[i : i + 2]
        pieces[i : i + 2] = [kept[0][:-1], kept[1][1:]]
        try:
            same = ast.dump(expression_in(old.join(pieces))) == wanted
        except EditError:
            same = False
        if not same:
            pieces[i : i + 2] = kept
    return pieces


class _Fill(ast.NodeTransformer):
    def __init__(self, node: ast.expr) -> None:
        self.node = node

    def visit_Name(self, name: ast.Name) -> ast.expr:
        return self.node if name.id == "__old__" else name


def _stands(changed: Document, start: int, new: str) -> bool:
    """Whether the text put at ``start`` has become a node of its own there, with the meaning it has alone."""
    try:
        found = expression(changed, changed.range(start, start + len(new)))
        alone = expression_in(new)
    except EditError:
        return False
    return ast.dump(found.node) == ast.dump(alone)


def assign(doc: Document, range_: Range) -> list[Splice]:
    """Turn the statement ``x.detach()`` into ``x = x.detach()``."""
    place = statement(doc, range_, exact=True)
    node = place.node
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        raise EditError("not a call on its own")
    function = node.value.func
    if not isinstance(function, ast.Attribute):
        raise EditError("not a method call")
    if any(isinstance(inner, (ast.Call, ast.Await, ast.NamedExpr)) for inner in ast.walk(function.value)):
        raise EditError("assigning would evaluate a call twice")
    if not isinstance(function.value, (ast.Name, ast.Attribute, ast.Subscript)):
        raise EditError("not something that can be assigned to")
    target = doc.source(function.value)
    if "\n" in target or "\r" in target:
        target = ast.unparse(function.value)
    start, end = doc.node_span(node)
    return [_opens(start, end + 1, f"{target} = ")]


def strip_call(doc: Document, range_: Range) -> list[Splice]:
    """Take the last method call off: ``x.detach()`` becomes ``x``.

    Where nothing is left to say then, a lone ``x`` or ``x = x``, the statement goes.
    """
    found = expression(doc, range_)
    node = found.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        raise EditError("not a method call")
    value = node.func.value
    place = statement_holding(doc, *found.span)
    if _says_nothing(place.node, node, value):
        return remove(place)
    value_end, end = doc.node_span(value)[1], found.span[1]
    dot = next((t for t in tokens(doc, place) if t.start >= value_end and t.text == "."), None)
    if dot is None or dot.start >= end:
        raise EditError("cannot tell the call from its receiver")
    start = dot.start
    while doc.text[start - 1].isspace():
        start -= 1
    if doc.text[start - 1] == "\\" or "#" in doc.text[doc.line_start(start) : start]:
        start = dot.start
    return [Splice(start, end, "")]


def _says_nothing(statement_node: ast.stmt, call: ast.Call, value: ast.expr) -> bool:
    effects = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    if any(isinstance(inner, effects) for inner in ast.walk(value)):
        return False
    if isinstance(statement_node, ast.Expr):
        return statement_node.value is call
    if isinstance(statement_node, ast.Assign) and statement_node.value is call:
        targets = statement_node.targets
        return len(targets) == 1 and ast.unparse(targets[0]) == ast.unparse(value)
    return False


def delete_argument(doc: Document, range_: Range, call_range: Range | None) -> list[Splice]:
    """Take one argument out of a call, with its comma and the blanks that were there for it."""
    import libcst as cst

    start, end = doc.span(range_)
    call = _call(doc, range_, call_range)
    call_start, call_end = doc.node_span(call)
    arguments: Sequence[ast.AST] = sorted([*call.args, *call.keywords], key=doc.node_span)
    spans = [doc.node_span(argument) for argument in arguments]
    index = next((i for i, span in enumerate(spans) if span == (start, end)), None)
    if index is None:
        raise EditError("not an argument of this call")
    line_break = doc.newline
    source = doc.text[call_start:call_end]
    try:
        parsed = cst.parse_expression(
            f"({source})", cst.PartialParserConfig(default_newline=line_break, default_indent=doc.unit)
        )
    except cst.ParserSyntaxError as error:
        raise EditError("libcst cannot read the call") from error
    if not isinstance(parsed, cst.Call) or len(parsed.args) != len(arguments):
        raise EditError("not a call")
    code = cst.Module([], default_newline=line_break).code_for_node(without_argument(parsed, index))
    return [Splice(call_start, call_end, code[1:-1])]


def _call(doc: Document, range_: Range, call_range: Range | None) -> ast.Call:
    if call_range is not None:
        node: ast.AST = expression(doc, call_range).node
        if isinstance(node, ast.Call):
            return node
        raise EditError("not a call")
    start, end = doc.span(range_)
    holder = statement_holding(doc, start, end)
    calls = [
        node
        for node in ast.walk(holder.node)
        if isinstance(node, ast.Call)
        and (start, end) in [doc.node_span(argument) for argument in (*node.args, *node.keywords)]
    ]
    if not calls:
        raise EditError("not an argument")
    return calls[0]


def without_argument(call: cst.Call, index: int) -> cst.Call:
    """The call without its ``index``-th argument, laid out as its author would have."""
    import libcst as cst

    removed = call.args[index]
    rest = [*call.args[:index], *call.args[index + 1 :]]
    if not rest:
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    if index == len(rest):
        last = rest[-1]
        comma = last.comma
        assert isinstance(comma, cst.Comma)
        if isinstance(removed.comma, cst.Comma):
            blanks: cst.BaseParenthesizableWhitespace = removed.comma.whitespace_after
        else:
            blanks = removed.whitespace_after_arg
        before = comma.whitespace_after
        commented = isinstance(before, cst.ParenthesizedWhitespace) and (
            before.first_line.comment is not None or any(line.comment for line in before.empty_lines)
        )
        if commented:
            assert isinstance(before, cst.ParenthesizedWhitespace)
            if isinstance(blanks, cst.ParenthesizedWhitespace):
                before = before.with_changes(indent=blanks.indent, last_line=blanks.last_line)
            rest[-1] = last.with_changes(comma=comma.with_changes(whitespace_after=before))
        elif isinstance(removed.comma, cst.Comma):
            rest[-1] = last.with_changes(comma=comma.with_changes(whitespace_after=_uncommented(blanks)))
        else:
            rest[-1] = last.with_changes(
                comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=_uncommented(blanks)
            )
    return call.with_changes(args=rest)


def _uncommented(blanks: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The line break without the comment that spoke of the argument taken out."""
    import libcst as cst

    if isinstance(blanks, cst.ParenthesizedWhitespace) and blanks.first_line.comment is not None:
        line = blanks.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
        return blanks.with_changes(first_line=line)
    return blanks

"""What becomes of an expression: something is appended, it is replaced, a call or an argument is taken off."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import libcst as cst

from .holes import Around, Change, Fill, Parentheses, read
from .text import EditError

_OLD = "_loopgrad_old_"


def appended(text: str) -> Change:
    """``a - b`` and ``.detach()`` make ``(a - b).detach()``; parentheses that are there serve."""
    template = read(f"{_OLD}{text}")

    def change(node: cst.BaseExpression, around: Around, parentheses: Parentheses) -> cst.BaseExpression:
        if around.lpar and not node.lpar:
            node = node.with_changes(lpar=[around.lpar.pop()], rpar=[around.rpar.pop(0)])
        return parentheses.within(_with_old(template, lambda: parentheses.within(node)))

    return change


def replaced(text: str) -> Change:
    """``{0}`` in the text stands for what was there, as often as it is said."""
    template = read(text.replace("{0}", _OLD))

    def change(node: cst.BaseExpression, around: Around, parentheses: Parentheses) -> cst.BaseExpression:
        def old() -> cst.BaseExpression:
            if any(has_comment(paren.whitespace_after) for paren in node.lpar) or any(
                has_comment(paren.whitespace_before) for paren in node.rpar
            ):
                return node
            bare = node.with_changes(lpar=[], rpar=[])
            return parentheses.around(bare, node.lpar or [cst.LeftParen()], node.rpar or [cst.RightParen()])

        new = _with_old(template, old)
        return new if around.lpar else parentheses.within(new)

    return change


def _with_old(template: cst.BaseExpression, old: Callable[[], cst.BaseExpression]) -> cst.BaseExpression:
    def put(name: cst.Name) -> cst.BaseExpression:
        node = old()
        return node.with_changes(lpar=[*name.lpar, *node.lpar], rpar=[*node.rpar, *name.rpar])

    return cast(cst.BaseExpression, template.visit(Fill({_OLD: put})))


def without_call(node: cst.BaseExpression, around: Around, _: Parentheses) -> cst.BaseExpression:
    """``x.detach()`` becomes ``x``; a comment in front of the dot stays, in front of a parenthesis."""
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        raise EditError("not a method call")
    value, blanks = node.func.value, node.func.dot.whitespace_before
    lpar, rpar = [*node.lpar, *value.lpar], list(node.rpar)
    if has_comment(blanks):
        closing = rpar or around.rpar
        if not closing or has_comment(closing[0].whitespace_before):
            lpar.insert(len(node.lpar), cst.LeftParen())
            rpar.insert(0, cst.RightParen(blanks))
        else:
            closing[0] = cst.RightParen(ending_like(blanks, closing[0].whitespace_before))
    return value.with_changes(lpar=lpar, rpar=[*value.rpar, *rpar])


def argument_deleted(index: int) -> Change:
    def change(node: cst.BaseExpression, _: Around, __: Parentheses) -> cst.BaseExpression:
        return without_argument(cst.ensure_type(node, cst.Call), index)

    return change


Blanks = cst.BaseParenthesizableWhitespace


def has_comment(blanks: Blanks) -> bool:
    return isinstance(blanks, cst.ParenthesizedWhitespace) and (
        blanks.first_line.comment is not None or any(line.comment for line in blanks.empty_lines)
    )


def ending_like(blanks: Blanks, other: Blanks) -> Blanks:
    """The blanks with the last line of the other ones, if both go over lines."""
    if isinstance(blanks, cst.ParenthesizedWhitespace) and isinstance(other, cst.ParenthesizedWhitespace):
        return blanks.with_changes(indent=other.indent, last_line=other.last_line)
    return blanks


def without_argument(call: cst.Call, index: int) -> cst.Call:
    """The call without its ``index``-th argument."""
    removed, rest = call.args[index], [*call.args[:index], *call.args[index + 1 :]]
    if not rest:
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    if index == len(rest):
        last = rest[-1]
        comma = cst.ensure_type(last.comma, cst.Comma)
        own = removed.comma if isinstance(removed.comma, cst.Comma) else None
        blanks = own.whitespace_after if own else removed.whitespace_after_arg
        if has_comment(comma.whitespace_after):
            # It is about the argument that stays.
            comma = comma.with_changes(whitespace_after=ending_like(comma.whitespace_after, blanks))
            rest[-1] = last.with_changes(comma=comma)
        elif own:
            rest[-1] = last.with_changes(comma=comma.with_changes(whitespace_after=_uncommented(blanks)))
        else:
            rest[-1] = last.with_changes(
                comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=_uncommented(blanks)
            )
    return call.with_changes(args=rest)


def _uncommented(blanks: Blanks) -> Blanks:
    """The line break without the comment that spoke of the argument taken out."""
    if isinstance(blanks, cst.ParenthesizedWhitespace) and blanks.first_line.comment is not None:
        line = blanks.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
        return blanks.with_changes(first_line=line)
    return blanks

"""Blanks and comments inside of calls: taking an argument out, laid out as its author would have without it."""

from __future__ import annotations

import libcst as cst

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

"""What of a source file stands around a line."""

from __future__ import annotations

import ast


def innermost(
    path: str, line: int, kinds: tuple[type[ast.stmt | ast.expr], ...]
) -> ast.stmt | ast.expr | None:
    """The innermost statement or expression of these kinds that a line (from 1) stands in.

    None where there is none, and for a file that cannot be read or parsed.
    """
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)

"""Edits on random programs: the result means exactly what the operation says, and nothing else.

Programs are put together from awkward pieces (one-line suites, semicolons, strings over several lines,
comments, backslashes, decorators) in all habits of indentation and line ends. The operation is done a second
time on the syntax tree, where it is easy; the edited text must parse to that very tree. All comments are
still there, and the text outside of the edits is the same by the character.
"""

from __future__ import annotations

import ast
import copy
import os
import tokenize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopgrad.fixes.edits import EditError, file_edits
from loopgrad.fixes.text import apply, document
from loopgrad.model import Step

SIMPLE = [
    "x = a - b",
    "f(x)",
    "x.detach()",
    "pass",
    "h = (a, b), c",
    "y = -a ** b if c else d",
    "a.b[0].c().detach()",
    "größe = '中😀' + 中",
    "x, *y = a or b, [*c]",
    "y = [i * 2 for i in (a + b) if not i]",
    "z = f(i for i in y)",
    "del a",
    "w = (yield_)",
    "g(a, *b, c=(d - e), **k)",
    "x = lambda a, b=c - d: a + b",
    "t: int = (1)",
    "assert a < b < c, 'no'",
    "s = x[1:n - 1, ...]",
    "x += (a).b",
    "import os",
    "p = {a: b, **c}",
    "'doc'",
    "f(\n  a - b,  # first\n      c=d,  # second\n)",
    "y = '''one\n  # two\nthree'''",
    "z = a + \\\n  b",
    "v = (a  # left\n     - b)",
    "f('''x\n  y''', '''\n''')",
    "q = f(a)(b)((c))",
    "r = (\n\n  f(a,)\n    .b\n)",
    "x = f(\n    a,\n    b=c\n  )",
    "n = 1",
    "print(f'{n}')",
    "f((m := a - b))",
    "await_ = not a",
]
HEADS = [
    "if a:",
    "while (a and\n  b):",
    "for i in f(a) + '''\n  # x\n''':",
    "with a as b, c:",
    "def f(a, b=c - d):",
    "class A(b):",
    "if x: # why",
]
COMMENTS = ["# one", "# größe", "# if a:", "# back \\"]


@st.composite
def line(draw):
    parts = draw(st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=3))
    if len(parts) == 1 and draw(st.booleans()):
        return parts[0]
    text = draw(st.sampled_from(["; ", ";", " ;  "])).join(parts)
    return text + draw(st.sampled_from(["", ";", "  # tail", "; # tail"]))


@st.composite
def block(draw, unit, indent, depth):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 5 if depth else 2))
        if draw(st.integers(0, 3)) == 0:
            lines.append(indent + draw(st.sampled_from(COMMENTS)))
        if kind <= 2:
            lines.append(indent + draw(line()))
        else:
            lines.extend(draw(compound(unit, indent, depth)))
        if draw(st.integers(0, 4)) == 0:
            lines.append("")
    return lines


@st.composite
def compound(draw, unit, indent, depth):
    head = draw(st.sampled_from(HEADS))
    lines = []
    if head.startswith(("def", "class")) and draw(st.booleans()):
        lines = [indent + "@a", indent + "@b(\n  c)  # deco", indent + "# above"]
    clauses = [head]
    if head.startswith("if") and draw(st.booleans()):
        clauses.append("elif b:")
    if head.startswith(("if", "while", "for")) and draw(st.booleans()):
        clauses.append("else:")
    if draw(st.integers(0, 4)) == 0:
        lines, clauses = [], ["try:", "except (E):", "else:", "finally:"]
    for clause in clauses:
        if draw(st.integers(0, 3)) == 0 and "#" not in clause.split("\n")[-1]:
            lines.append(f"{indent}{clause} {draw(line())}")
        else:
            lines.append(indent + clause)
            lines.extend(draw(block(unit, indent + unit, depth - 1)))
            if draw(st.integers(0, 4)) == 0:
                lines.append(indent + unit + "# end")
    return lines


@st.composite
def program(draw):
    unit = draw(st.sampled_from(["    ", "  ", "\t"]))
    text = "\n".join(draw(block(unit, "", 2))) + draw(st.sampled_from(["\n", ""]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


def comments(text):
    lines = iter(text.removeprefix("\ufeff").replace("\r\n", "\n").splitlines(keepends=True))
    tokens = tokenize.generate_tokens(lambda: next(lines, ""))
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def blocks(tree):
    for owner in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(owner, name, None)
            if isinstance(body, list) and body:
                yield owner, body


def place(tree, node):
    return next(
        (owner, body, i) for owner, body in blocks(tree) for i, each in enumerate(body) if each is node
    )


class Swap(ast.NodeTransformer):
    def __init__(self, target, make):
        self.target, self.make = target, make

    def visit(self, node):
        return self.make(node) if node is self.target else self.generic_visit(node)


def parsed(text):
    return ast.parse(text).body[0]


def expected_tree(tree, op, node, other):
    """The operation, on the tree. ``node`` and ``other`` are nodes of this very tree."""
    extra = parsed("h = h.detach()")
    if op == "append":
        made = ast.Call(ast.Attribute(node, "detach", ast.Load()), [], [])
        return Swap(node, lambda _: made).visit(tree)
    if op == "replace":
        made = ast.IfExp(node, ast.Name("p", ast.Load()), ast.Name("q", ast.Load()))
        return Swap(node, lambda _: made).visit(tree)
    owner, body, index = place(tree, node)
    if op == "insert_after":
        body.insert(index + 1, extra)
    elif op == "insert_before":
        body.insert(index, extra)
    elif op == "append_body":
        node.body.append(extra)
    elif op == "prepend_body":
        node.body.insert(1 if documented(node) else 0, extra)
    elif op == "wrap":
        last = next(i for i, each in enumerate(body) if each is other)
        header = parsed("with no_grad(): pass")
        header.body = body[index : last + 1]
        body[index : last + 1] = [header]
    elif op in ("delete", "move_before", "move_after", "move_into_body"):
        moved = copy.deepcopy(node)
        if op == "move_into_body":
            other.body.insert(0, moved)
        elif op != "delete":
            _, goal, at = place(tree, other)
            goal.insert(at + (op == "move_after"), moved)
        body[:] = [each for each in body if each is not node]
        if not body and not isinstance(owner, ast.Module):
            body.append(ast.Pass())
    elif op == "decorate":
        node.decorator_list.append(ast.Name("z", ast.Load()))
    return tree


def documented(node):
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None


#: More with LOOPGRAD_EXAMPLES=1000.
EXAMPLES = int(os.environ.get("LOOPGRAD_EXAMPLES", "40"))
TEXT = {
    "append": ".detach()",
    "replace": "p if {0} else q",
    "wrap": "with no_grad():",
    "decorate": "@z",
    "suppress": "LG101",
}
OPERATIONS = [
    "append",
    "replace",
    "insert_after",
    "insert_before",
    "append_body",
    "prepend_body",
    "wrap",
    "delete",
    "move_before",
    "move_after",
    "move_into_body",
    "decorate",
    "suppress",
]


def candidates(tree, op):
    if op in ("append", "replace"):
        skipped = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for inner in ast.walk(node)
        }
        return [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.expr)
            and id(node) not in skipped
            and not isinstance(node, (ast.Slice, ast.Starred))
            and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        ]
    statements = [each for _, body in blocks(tree) for each in body]
    if op == "append_body":
        return [node for node in statements if isinstance(node, (ast.For, ast.While))]
    if op == "prepend_body":
        return [node for node in statements if hasattr(node, "body")]
    if op == "decorate":
        return [node for node in statements if isinstance(node, ast.FunctionDef)]
    return statements


@pytest.mark.parametrize("op", OPERATIONS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=program(), data=st.data())
def test_an_edit_means_what_its_operation_says(op, text, data):
    bare = text.removeprefix("\ufeff")
    tree = ast.parse(bare)
    nodes = candidates(tree, op)
    if not nodes:
        return
    index = data.draw(st.integers(0, len(nodes) - 1))
    node, other = nodes[index], None
    if op == "wrap":
        _, body, at = place(tree, node)
        other = body[data.draw(st.integers(at, len(body) - 1))]
    elif op.startswith("move"):
        pool = [
            n
            for n in candidates(tree, "delete")
            if op != "move_into_body" or isinstance(n, (ast.For, ast.While))
        ]
        if not pool:
            return
        other = data.draw(st.sampled_from(pool))
    doc = document(text)
    ranges = [doc.range(*doc.node_span(each)) if each is not None else None for each in (node, other)]
    try:
        edits = file_edits(
            "t.py", text, [Step(op, "t.py", ranges[0], TEXT.get(op, "h = h.detach()"), ranges[1])]
        )
    except EditError as error:
        assert refusal_is_right(tree, op, node, other, str(error)), error
        return
    result = apply(text, edits)
    assert result.startswith("\ufeff") == text.startswith("\ufeff")
    assert "\r" not in result.replace("\r\n", "") and ("\r\n" in text or "\r\n" not in result)
    pair = copy.deepcopy((tree, node, other))
    wanted = ast.dump(expected_tree(pair[0], op, pair[1], pair[2]))
    got = ast.parse(result.removeprefix("\ufeff"))
    assert ast.dump(got) == wanted, f"\n{text}\n--- became\n{result}"
    if op != "delete":
        before, after = comments(text), comments(result)
        assert [
            each.split("  # loopgrad")[0] for each in after if not each.startswith("# loopgrad")
        ] == before


def refusal_is_right(tree, op, node, other, message):
    if "elif" in message:
        return isinstance(node, ast.If) or isinstance(other, ast.If)
    if op.startswith("move"):
        return "itself" in message or "already" in message
    if op in ("append", "replace"):
        # Part of ``x[1:2, y]`` cannot stand in parentheses.
        return isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts)
    if op == "delete":
        return isinstance(node, ast.Pass) and "nothing" in message
    return op == "append_body" and "never reached" in message

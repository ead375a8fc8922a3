"""Changes that scripts undergo: a cut taken away or put in, a call moved, doubled or put under a condition.

A change is made to the tree of the training part. One that would read a name before it is assigned is
avoided where the text shows it; the rest of such programs end with a NameError and are no test.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from .draft import Draft
from .trees import Block, blocks, calls, has_call, is_cut, loaded, replace, stored


def drop_cut(d: Draft, tree: ast.Module) -> bool:
    """`x.detach()`, `x.item()` or `x.data` becomes `x`."""

    def change(node: ast.expr) -> ast.expr:
        return node.func.value if isinstance(node, ast.Call) else node.value  # type: ignore[attr-defined, no-any-return]

    return replace(d, tree, is_cut, change)


def other_cut(d: Draft, tree: ast.Module) -> bool:
    """`x.detach()` becomes another cut, or one in name only."""
    new = d.pick(
        [
            "{x}.data",
            "{x}.clone()",
            "{x}.detach().clone()",
            "{x}.requires_grad_()",
            "{x}.detach().requires_grad_()",
            "torch.as_tensor({x})",
        ]
    )

    def change(node: ast.expr) -> ast.expr:
        inner = node.func.value if isinstance(node, ast.Call) else node.value  # type: ignore[attr-defined]
        return ast.parse(new.format(x=f"({ast.unparse(inner)})"), mode="eval").body

    return replace(
        d, tree, lambda n: isinstance(n, ast.Call) and is_cut(n) and n.func.attr == "detach", change
    )  # type: ignore[attr-defined]


_TENSORS = {
    "h",
    "hidden",
    "out",
    "pred",
    "logits",
    "z",
    "feat",
    "fake",
    "h_new",
    "h_next",
    "nxt",
    "value",
    "v",
    "output",
    "scores",
    "rep",
    "q",
    "keys",
    "early",
    "a",
    "pos",
}


def add_cut(d: Draft, tree: ast.Module) -> bool:
    """A tensor that is read becomes `x.detach()`."""
    return replace(
        d,
        tree,
        lambda n: isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in _TENSORS,
        lambda n: ast.parse(f"{ast.unparse(n)}.detach()", mode="eval").body,
    )


def add_statement(d: Draft, tree: ast.Module) -> bool:
    """A statement about a tensor that has just been made."""
    places = [(b, at, n.targets[0].id) for b in blocks(tree, loops=True) for at, n in enumerate(b)
              if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and n.targets[0].id in _TENSORS]  # fmt: skip
    if not places:
        return False
    block, at, name = d.rng.choice(places)
    text = d.pick(
        [
            "{x}.detach()",
            "{x} = {x}.detach()",
            "{x}.detach_()",
            "{x} = {x} * 1.0",
            "{x}.retain_grad()",
            "{x} = {x}.clone()",
            "{x} += 0.1",
            "{x}.mul_(0.9)",
            "{x} = {x}[:]",
            "{x}.requires_grad_(True)",
            "del {x}",
            "{x}.register_hook(lambda g: g * 2)",
        ],
        "added",
    )
    block[at + 1 : at + 1] = ast.parse(text.format(x=name)).body
    return True


def unwrap(d: Draft, tree: ast.Module) -> bool:
    """`with torch.no_grad():` is dropped."""
    places = [(b, at, n) for b in blocks(tree) for at, n in enumerate(b) if isinstance(n, ast.With)]
    if not places:
        return False
    block, at, node = d.rng.choice(places)
    block[at : at + 1] = node.body
    return True


def wrap(d: Draft, tree: ast.Module) -> bool:
    """An assignment is put under `with torch.no_grad():` or the like."""
    places = [
        (b, at, n)
        for b in blocks(tree, loops=True)
        for at, n in enumerate(b)
        if isinstance(n, (ast.Assign, ast.AugAssign)) and not has_call(n, "grad")
    ]
    if not places:
        return False
    block, at, node = d.rng.choice(places)
    header = d.pick(
        {
            "torch.no_grad()": 5,
            "torch.enable_grad()": 1,
            "torch.set_grad_enabled(False)": 1,
            "torch.autograd.set_detect_anomaly(False)": 0.5,
        }
    )
    shell = ast.parse(f"with {header}:\n    pass").body[0]
    shell.body = [node]  # type: ignore[attr-defined]
    block[at] = shell
    return True


def condition(d: Draft, tree: ast.Module) -> bool:
    """A statement is put under an unknown condition, or under one on the counter."""
    places = []
    for block in blocks(tree, loops=True):
        defined: set[str] = set()
        for at, node in enumerate(block):
            names = stored(node)
            harmless = isinstance(node, (ast.Expr, ast.AugAssign)) or (
                isinstance(node, ast.Assign) and (not names or names <= defined | loaded(node))
            )
            if harmless and not any(isinstance(n, (ast.Yield, ast.Return)) for n in ast.walk(node)):
                places.append((block, at, node))
            defined |= names
    if not places:
        return False
    block, at, node = d.rng.choice(places)
    test = (
        d.flag()
        if d.chance(0.75)
        else d.pick(["torch.is_grad_enabled()", "True", "not " + d.flag(), "len(str(N)) == 1"])
    )
    shell = ast.parse(f"if {test}:\n    pass").body[0]
    shell.body = [node]  # type: ignore[attr-defined]
    block[at] = shell
    return True


def swap(d: Draft, tree: ast.Module) -> bool:
    """Two neighbours change places, where the second needs nothing of the first."""
    places = [
        (b, at)
        for b in blocks(tree, loops=True)
        for at in range(len(b) - 1)
        if not stored(b[at]) & loaded(b[at + 1])
    ]
    if not places:
        return False
    block, at = d.rng.choice(places)
    if isinstance(block[at + 1], (ast.Break, ast.Continue, ast.Return)):
        return False
    block[at], block[at + 1] = block[at + 1], block[at]
    return True


def move_call(d: Draft, tree: ast.Module) -> bool:
    """zero_grad, step or a clear moves to another place of its block."""
    places = list(calls(tree, "zero_grad", "step", "clear", "reset"))
    if not places:
        return False
    block, at, _ = d.rng.choice(places)
    node = block.pop(at)
    block.insert(
        d.rng.randrange(len(block) + 1) if block and not isinstance(block[-1], ast.Return) else 0, node
    )
    return True


def drop_call(d: Draft, tree: ast.Module) -> bool:
    """zero_grad, step, a clear or an append is forgotten."""
    places = [
        p
        for p in calls(tree, "zero_grad", "step", "clear", "reset", "detach_", "eval", "update", "put")
        if len(p[0]) > 1
    ]
    if not places:
        return False
    block, at, _ = d.rng.choice(places)
    del block[at]
    return True


def double_backward(d: Draft, tree: ast.Module) -> bool:
    """A backward call is made twice."""
    places = list(calls(tree, "backward"))
    if not places:
        return False
    block, at, _ = d.rng.choice(places)
    block.insert(at + 1, ast.parse(ast.unparse(block[at])).body[0])
    return True


def toggle_retain(d: Draft, tree: ast.Module) -> bool:
    """retain_graph is put in or taken out."""
    places = list(calls(tree, "backward"))
    if not places:
        return False
    call = d.rng.choice(places)[2]
    had = [k for k in call.keywords if k.arg == "retain_graph"]
    if had:
        call.keywords.remove(had[0])
    else:
        value = d.pick({"True": 6, "False": 1, d.flag(): 1} if d.chance(0.3) else ["True"])
        call.keywords.append(ast.keyword("retain_graph", ast.parse(value, mode="eval").body))
    return True


def caught(d: Draft, tree: ast.Module) -> bool:
    """A statement with a pass in it is put into a try."""
    places = [
        (b, at)
        for b in blocks(tree, loops=True)
        for at, n in enumerate(b)
        if has_call(n, "backward") and not isinstance(n, (ast.For, ast.While, ast.FunctionDef))
    ]
    if not places:
        return False
    block, at = d.rng.choice(places)
    kind = d.pick(
        {
            "RuntimeError": 4,
            "Exception": 2,
            "ValueError": 2,
            "(RuntimeError, KeyError)": 1,
            "KeyboardInterrupt": 1,
        }
    )
    handler = d.pick(["pass", "print('skipped')", "break", "raise", "continue"])
    more = d.pick(["", "", "\nelse:\n    pass", "\nfinally:\n    pass"])
    shell = (
        ast.parse(
            f"while 1:\n try:\n  pass\n except {kind}:\n  {handler}{more.replace(chr(10), chr(10) + ' ')}"
        )
        .body[0]
        .body[0]
    )  # type: ignore[attr-defined]
    shell.body = [block[at]]
    block[at] = shell
    return True


def leave(d: Draft, tree: ast.Module) -> bool:
    """The loop is left, or a step skipped, at some time."""
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)]
    counters = {"i", "step", "it", "k"}
    loops = [n for n in loops if stored(n.target) & counters]
    if not loops:
        return False
    loop = d.rng.choice(loops)
    i = sorted(stored(loop.target) & counters)[0]
    test = d.pick([f"{i} == 2", f"{i} >= 4", f"{i} % 2 == 1", f"{i} < 3", f"{i} == 1", d.flag()])
    at = d.rng.randrange(len(loop.body))
    loop.body.insert(
        at, ast.parse(f"while 1:\n if {test}:\n  {d.pick(['continue', 'break'])}").body[0].body[0]
    )  # type: ignore[attr-defined]
    return True


def hoist(d: Draft, tree: ast.Module) -> bool:
    """An assignment of the loop moves before it, if all that it reads is there."""
    for block in d.rng.sample(list(blocks(tree)), len(list(blocks(tree)))):
        defined: set[str] = set()
        for at, node in enumerate(block):
            if isinstance(node, (ast.For, ast.While)):
                inner = stored(node)
                found = [
                    n for n in node.body if isinstance(n, ast.Assign) and not loaded(n) & inner and stored(n)
                ]
                if found:
                    moved = d.rng.choice(found)
                    node.body.remove(moved)
                    node.body = node.body or [ast.Pass()]
                    block.insert(at, moved)
                    return True
            defined |= stored(node)
    return False


def repeat(d: Draft, tree: ast.Module) -> bool:
    """An assignment before the loop is made once more at the start of each iteration."""
    for block in blocks(tree):
        for at, node in enumerate(block[1:], 1):
            first = block[at - 1]
            if isinstance(node, (ast.For, ast.While)) and isinstance(first, ast.Assign) and stored(first):
                names = stored(first)
                if names & loaded(node.iter if isinstance(node, ast.For) else node.test):
                    continue
                node.body.insert(0, ast.parse(ast.unparse(first)).body[0])
                return True
    return False


def augmented(d: Draft, tree: ast.Module) -> bool:
    """`x += y` becomes `x = x + y`, or the other way round."""
    for block in blocks(tree):
        for at, node in enumerate(block):
            match node:
                case ast.AugAssign(ast.Name(name), ast.Add(), value):
                    block[at] = ast.parse(f"{name} = {name} + ({ast.unparse(value)})").body[0]
                    return True
                case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(left), ast.Add(), right)) if (
                    name == left
                ):
                    block[at] = ast.parse(f"{name} += {ast.unparse(right)}").body[0]
                    return True
    return False


def deleted(d: Draft, tree: ast.Module) -> bool:
    """A name is deleted at the loop's end."""
    loops = [
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.For, ast.While))
        and any(isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) for s in n.body)
    ]
    if not loops:
        return False
    loop = d.rng.choice(loops)
    own = [
        s.targets[0].id for s in loop.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
    ]
    fresh = [n for n in own if loop.body and not _read_first(loop.body, n)]
    if not fresh or isinstance(loop.body[-1], (ast.Break, ast.Continue, ast.If)):
        return False
    loop.body.append(ast.Delete([ast.Name(d.rng.choice(fresh), ast.Del())]))
    return True


def _read_first(block: Block, name: str) -> bool:
    for node in block:
        if name in loaded(node):
            return True
        if name in stored(node):
            return False
    return True


MUTATIONS: dict[Callable[[Draft, ast.Module], bool], float] = {
    drop_cut: 2.5, other_cut: 1.5, add_cut: 1.2, add_statement: 1.2, unwrap: 1, wrap: 0.9, condition: 3, swap: 1, move_call: 1,
    drop_call: 1, double_backward: 0.8, toggle_retain: 1.2, caught: 0.7,
    leave: 1, hoist: 0.8, repeat: 0.8, augmented: 0.7, deleted: 0.4,
}  # fmt: skip


def mutate(d: Draft, tree: ast.Module) -> None:
    """Change the training part once or a few times, or leave it as it was written."""
    for _ in range(d.rng.choices([0, 1, 2, 3], [0.34, 0.34, 0.22, 0.1])[0]):
        kind = d.rng.choices(list(MUTATIONS), list(MUTATIONS.values()))[0]
        if kind(d, tree):
            d.note(f"changed: {kind.__name__}")
        ast.fix_missing_locations(tree)

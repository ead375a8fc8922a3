"""Computing it anew: a statement moved into the loop, or a value computed where it is used.

What is moved may depend on other statements that build a part of the same graph, and others may depend on it;
so a few sets are proposed: the statement alone, with what it is made of, with what is made of it.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator

from loopgrad.analysis.where import Site
from loopgrad.model import Step

from ..context import Context
from ..syntax import Function, Loop, calls_in, calls_method, method_name, names_read, targets_of
from .edits import File

#: Calls that make what must be made once: leaves, modules, optimizers, data.
_ONCE = frozenset(
    "Parameter requires_grad_ parameters DataLoader manual_seed tensor from_numpy as_tensor rand randn randint randperm "
    "rand_like randn_like zeros ones full empty arange linspace load zeros_like ones_like eye".split()
)


def into_loop(
    sites: list[Site],
    loop_site: Site | None,
    context: Context,
    graph: Iterable[Site] = (),
    once: Iterable[Site] = (),
) -> Iterator[list[Step]]:
    """Sets of statements to move to the start of the loop's body, the smallest first.

    ``graph`` are the sites of all that the graph was built by: they, and nothing else, are the second set.
    What makes its leaves is not to be made ``once`` more: a model would start anew in each iteration.
    """
    if loop_site is None:
        return
    file = File(context, context.path(loop_site))
    loop = _body(loop_site, file)
    if loop is None:
        return
    leaves = [file.tree.statement(site.node) for site in once if context.path(site) == file.path]
    building: list[ast.stmt] = []
    block: list[ast.stmt] = []
    outer: ast.stmt = loop
    for site in sites:
        statement = file.tree.statement(site.node) if context.path(site) == file.path else None
        pair = file.tree.common_block(statement, loop) if statement is not None else None
        if statement is None or pair is None or pair[0] is not statement or pair[1] is statement:
            continue
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement not in leaves:
            block = file.tree.block(statement)
            outer = pair[1]
            building.append(statement)
    if not building:
        return
    before = block[: next((i for i, each in enumerate(block) if each is outer), 0)]
    seen: list[list[ast.stmt]] = []
    ends = with_users(building, before)
    recorded = [file.tree.statement(site.node) for site in graph if context.path(site) == file.path]
    whole = [
        each for each in before if each in building or any(each is one for one in recorded) and _movable(each)
    ]
    # What a function computes is its own: nothing around it sees that. Functions above a loop run in it, or behind it.
    stays = [each for each in before if not isinstance(each, Function)]
    if isinstance(loop, Function):
        stays = [each for each in block if each is not outer]
    for chosen in (building, whole, with_sources(building, before), ends, with_sources(ends, before)):
        if chosen not in seen and not any(each in leaves for each in chosen) and not _missed(chosen, stays):
            seen.append(chosen)
            yield [file.step("move_into_body", each, other=loop) for each in chosen]


def _missed(chosen: list[ast.stmt], stays: list[ast.stmt]) -> bool:
    """Whether a statement that stays behind reads, or drops, what a chosen one above it gives a name."""
    made: set[str] = set()
    for each in stays:
        if each in chosen:
            made |= {target.id for target in targets_of(each) if isinstance(target, ast.Name)}
        elif made & (names_read(each) | set(_dropped(each))):
            return True
    return False


def _dropped(statement: ast.stmt) -> list[str]:
    """The names that ``del`` takes away."""
    targets = statement.targets if isinstance(statement, ast.Delete) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _body(loop_site: Site, file: File) -> ast.stmt | None:
    """The loop, or the local function that a call runs several times: an optimizer's closure."""
    node = loop_site.node
    if isinstance(node, (*Loop, *Function)):
        return node
    if isinstance(node, ast.Call):
        passed = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        function = file.tree.function(node)
        for each in ast.walk(function or file.tree.tree):
            if isinstance(each, ast.FunctionDef) and each.name in passed and each is not function:
                return each
    return None


def with_sources(chosen: list[ast.stmt], before: list[ast.stmt]) -> list[ast.stmt]:
    """The statements and those above that compute what they read, but for what is to be made once."""
    taken = list(chosen)
    for each in reversed(before):
        if each in taken or not _movable(each) or _makes_object(each):
            continue
        made = {ast.unparse(target) for target in targets_of(each)}
        if any(made & names_read(other) for other in taken):
            taken.append(each)
    return [each for each in before if each in taken]


def with_users(chosen: list[ast.stmt], before: list[ast.stmt]) -> list[ast.stmt]:
    """The statements and those between them and the loop that compute something from them."""
    taken = list(chosen)
    order = {id(each): place for place, each in enumerate(before)}
    for each in before:
        made = {ast.unparse(target) for other in taken for target in targets_of(other)}
        later = any(order.get(id(other), len(before)) < order[id(each)] for other in taken)
        if each in taken or not later:
            continue
        # What is dropped before the loop is dropped in each iteration then.
        if _movable(each) and made & names_read(each) or made.issuperset(_dropped(each) or [""]):
            taken.append(each)
    return [each for each in before if each in taken]


def _movable(statement: ast.stmt) -> bool:
    """Whether a statement computes something, so that computing it again is no harm."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    if not any(isinstance(each, (ast.Call, ast.BinOp)) for each in ast.walk(statement.value)):
        return False
    calls = list(calls_in(statement.value))
    if any(keyword.arg == "requires_grad" for call in calls for keyword in call.keywords):
        return False
    if calls and all(method_name(call) in _ONCE or "optim" in ast.unparse(call.func) for call in calls):
        return False
    return not calls_method(statement, "Parameter", "requires_grad_")


def _makes_object(statement: ast.stmt) -> bool:
    """Whether a statement makes an object of a class: what is made of modules is moved, modules are not."""
    return method_name(getattr(statement, "value", statement))[:1].isupper()


# Computed where it is used -------------------------------------------------------------------------------


def as_property(site: Site, context: Context) -> list[Step]:
    """``self.x = expression`` of a constructor as a property: computed each time that it is read."""
    file = File(context, context.path(site))
    statement = file.tree.statement(site.node)
    function = file.tree.function(site.node)
    cls = file.tree.class_of(site.node)
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or cls is None
        or function is None
    ):
        return []
    target = statement.targets[0]
    if function.name != "__init__" or not function.args.args or file.tree.parent(function) is not cls:
        return []
    me = function.args.args[0].arg
    if not (
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me
    ):
        return []
    if _stored_elsewhere(cls, target, statement) or _has_own(cls, target.attr):
        return []
    sources = _sources(function, statement, file)
    kept = _locals_of(function, [*(each.value for each in sources), statement.value], file, sources)
    if kept is None:
        return []
    text = _spelled(file.source(statement.value), kept, me)
    body_lines = [
        f"{each.targets[0].id} = {_spelled(file.source(each.value), kept, me)}"  # type: ignore[attr-defined]
        for each in sources
    ]
    steps = [file.step("delete", each) for each in (*_idle(function, [*sources, statement]), statement)]
    lines = [f"{me}.{name} = {name}" for name in kept if not _is_kept(function, me, name)]
    if lines:
        above = _above(file, statement)
        op, anchor = ("insert_after", above) if above is not None else ("insert_before", statement)
        steps.append(file.step(op, anchor, "\n".join(lines)))
    # The line of one blank keeps the property apart from what follows it.
    inside = "".join(f"    {line}\n" for line in [*body_lines, f"return {text}"])
    body = f"@property\ndef {target.attr}({me}):\n{inside} "
    steps.append(file.step("insert_before", _method_below(cls, function), body))
    return steps


def _above(file: File, statement: ast.stmt) -> ast.stmt | None:
    block = file.tree.block(statement)
    at = next((i for i, each in enumerate(block) if each is statement), 0)
    return block[at - 1] if at else None


def _method_below(cls: ast.ClassDef, function: ast.AST) -> ast.stmt:
    """The statement of the class in front of which the property goes: the next one, or the constructor itself."""
    at = next((i for i, each in enumerate(cls.body) if each is function), 0)
    return cls.body[at + 1] if at + 1 < len(cls.body) else cls.body[at]


def _stored_elsewhere(cls: ast.ClassDef, target: ast.Attribute, statement: ast.stmt) -> bool:
    for node in ast.walk(cls):
        if isinstance(node, ast.stmt) and node is not statement:
            if any(ast.unparse(each) == ast.unparse(target) for each in targets_of(node)):
                return True
    return False


def _has_own(cls: ast.ClassDef, name: str) -> bool:
    return any(isinstance(each, Function) and each.name == name for each in cls.body)


def _sources(function: ast.AST, statement: ast.stmt, file: File) -> list[ast.Assign]:
    """The statements above that give the locals which a statement is computed from, in their order."""
    block = file.tree.block(statement)
    above = block[: next((i for i, each in enumerate(block) if each is statement), 0)]
    wanted = names_read(statement)
    taken: list[ast.Assign] = []
    for each in reversed(above):
        target = each.targets[0] if isinstance(each, ast.Assign) and len(each.targets) == 1 else None
        if isinstance(each, ast.Assign) and isinstance(target, ast.Name) and target.id in wanted:
            if _makes_object(each) or any(method_name(call) in _ONCE for call in calls_in(each.value)):
                continue  # it is kept beside the property
            taken.append(each)
            wanted |= names_read(each)
    return taken[::-1]


def _idle(function: ast.AST, moved: list[ast.stmt]) -> list[ast.stmt]:
    """Of the statements that move, but for the last, those whose names nothing that stays reads."""
    gone = {id(node) for each in moved for node in ast.walk(each)}
    stays = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in gone
    }
    return [each for each in moved[:-1] if not {ast.unparse(t) for t in targets_of(each)} & stays]


def _locals_of(
    function: ast.AST, values: list[ast.expr], file: File, given: list[ast.Assign]
) -> list[str] | None:
    """What expressions read of the constructor, but for what is ``given`` too; None if that may change in between."""
    args = getattr(function, "args", None)
    if args is None:
        return None
    me = args.args[0].arg
    parameters = {each.arg for each in (*args.args, *args.kwonlyargs)} - {me}
    assigned = [
        ast.unparse(target)
        for node in ast.walk(function)
        if isinstance(node, ast.stmt)
        for target in targets_of(node)
    ]
    names = [each for value in values for each in ast.walk(value) if isinstance(each, ast.Name)]
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    bound |= {ast.unparse(each.targets[0]) for each in given}
    read = [each.id for each in names if isinstance(each.ctx, ast.Load)]
    wanted = [name for name in dict.fromkeys(read) if name != me and name not in bound]
    plain = {ast.unparse(each.targets[0]) for each in _plain(function)}
    if any(assigned.count(name) > (name in plain) or name in parameters and name in plain for name in wanted):
        return None
    return [name for name in wanted if name in parameters or name in plain]


def _plain(function: ast.AST) -> list[ast.Assign]:
    """The statements ``name = value`` of a function's own block."""
    return [
        each
        for each in getattr(function, "body", [])
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name)
    ]


def _is_kept(function: ast.AST, me: str, name: str) -> bool:
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts)
            if any(ast.unparse(to) == f"{me}.{name}" and ast.unparse(value) == name for to, value in pairs):
                return True
    return False


def _spelled(text: str, kept: list[str], me: str) -> str:
    """The expression with the constructor's parameters read from ``self``."""
    if not kept:
        return text
    tree = ast.parse(text, mode="eval").body
    spots = sorted(
        (each.col_offset, each.id)
        for each in ast.walk(tree)
        if isinstance(each, ast.Name) and each.id in kept and isinstance(each.ctx, ast.Load)
    )
    raw = text.encode()
    for offset, name in reversed(spots):
        raw = raw[:offset] + f"{me}.{name}".encode() + raw[offset + len(name.encode()) :]
    return raw.decode()


def uncached(sites: list[Site], context: Context) -> Iterator[list[Step]]:
    """A cache taken off the function that builds: ``@cached_property`` becomes ``@property``."""
    for site in sites:
        file = File(context, context.path(site))
        function = file.tree.function(site.node)
        if function is None:
            continue
        for decorator in function.decorator_list:
            if ast.unparse(decorator).split(".")[-1] == "cached_property":
                yield [file.step("replace", decorator, "property")]
        for call in calls_in(file.tree.tree):
            if (
                len(call.args) == 1
                and _is_cache(call.func)
                and ast.unparse(call.args[0]).split(".")[-1] == function.name
            ):
                yield [file.step("replace", call, file.source(call.args[0]))]
        yield from _unguarded(site, file)


def _is_cache(node: ast.expr) -> bool:
    """``lru_cache(maxsize=None)`` or ``functools.cache``."""
    callee = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(callee).split(".")[-1] in ("lru_cache", "cache")


def _unguarded(site: Site, file: File) -> Iterator[list[Step]]:
    """``if key not in cache: cache[key] = f(x)`` without its condition."""
    statement = file.tree.statement(site.node)
    guard = file.tree.parent(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or not isinstance(guard, ast.If) or guard.orelse:
        return
    test = guard.test
    kept = ast.unparse(statement.targets[0]).split("[")[0]
    asks = (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], (ast.Is, ast.NotIn))
        and kept in ast.unparse(test)
    )
    text = dissolved(guard, file)
    if asks and text is not None and len(guard.body) == 1:
        yield [file.step("insert_before", guard, text), file.step("delete", guard)]


def dissolved(node: ast.With | ast.If, file: File) -> str | None:
    """The body of a block as text of its own. A string over several lines would move with it: then None."""
    source = file.context.file(file.path)
    if source is None or node.body[0].lineno == node.lineno or _has_long_text(node):
        return None
    last = node.body[-1].end_lineno or node.body[-1].lineno
    lines = [source.line(number) for number in range(node.body[0].lineno, last + 1)]
    return textwrap.dedent("\n".join(lines))


def _has_long_text(node: ast.AST) -> bool:
    return any(
        isinstance(each, (ast.Constant, ast.JoinedStr)) and each.lineno != (each.end_lineno or each.lineno)
        for each in ast.walk(node)
    )

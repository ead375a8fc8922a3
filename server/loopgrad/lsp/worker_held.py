"""What each variable of a file held where it is read or stored: the worker's answer to a hover.

``Watch`` is handed to an analysis of its own and notes, for each name and attribute, whether its value carried a
graph, where that graph was built and how far back it reaches, in each call and iteration that comes to the place.
``held`` puts what was noted into sentences; where calls differ, each is told by the line it comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from loopgrad.analysis.cuts import Cut
from loopgrad.analysis.entries import Entry
from loopgrad.analysis.explore import analyse
from loopgrad.analysis.paths import run_decided
from loopgrad.analysis.shared import FileRecord, Shared
from loopgrad.analysis.tape import NEVER, Node, Pass, Tensor, reachable
from loopgrad.analysis.values import Obj, Sym, tensors_in
from loopgrad.analysis.verdicts import Analysis
from loopgrad.analysis.where import LoopRun, Parting, Site, Where, lift, loops_of
from loopgrad.lsp.wire import Held, Spot
from loopgrad.model import Message
from loopgrad.rules.context import Context
from loopgrad.rules.deep import run_deep
from loopgrad.source import Provider, SourceFile
from loopgrad.source.cell_order import run_order

#: So many moments of a place are noted, and so many pieces of a graph asked whether a backward freed them.
MOMENTS = 32
PIECES = 64
#: Steps of the functions that no program of the file comes to.
MOST_STEPS = 15_000
#: So many stretches of iterations, and so many calling lines, are told.
MOST = 3

_PLAIN = (int, float, str, bool, type(None), bytes)

#: A place: first line, column, last line, column, as ``ast`` counts them.
Key = tuple[int, int, int, int]


@dataclass(frozen=True)
class Since:
    """Where a piece of graph was built, as seen from the place that is asked about.

    ``iteration`` is that of the loop that lies between the two moments and ``ago`` how many iterations have
    passed since; ``before`` says that it was built before the loop. Nothing of it: in the same iteration.
    """

    site: Site | None
    iteration: int | None = None
    ago: int = 0
    before: bool = False
    in_loop: bool = False

    @property
    def mark(self) -> tuple[Any, ...]:
        """What makes two of them the same sentence; the iteration matters where it is not counted from now."""
        place = self.site.key if self.site is not None else None
        return place, self.iteration if self.ago > 1 else None, min(self.ago, 2), self.before, self.in_loop


@dataclass(frozen=True)
class State:
    """What a value was at one moment. ``built`` is None for one without a graph."""

    tensor: bool = True
    leaf: bool = False
    guess: bool = False
    cut: Site | None = None
    built: Since | None = None
    back: Since | None = None
    freed: Since | None = None
    #: Whether the backward freed only what lies further back.
    in_part: bool = False

    @property
    def mark(self) -> tuple[Any, ...]:
        cut = self.cut.key if self.cut is not None else None
        sinces = (each and each.mark for each in (self.built, self.back, self.freed))
        return self.leaf, self.guess, self.in_part, cut, *sinces


@dataclass
class Noted:
    """A variable at a place: what it was at each moment, and the run of the engine that each belongs to."""

    name: str
    states: dict[Where, tuple[Any, State]] = field(default_factory=dict)

    @property
    def tensor(self) -> bool:
        return any(state.tensor for _, state in self.states.values())


class Watch:
    """Notes what the variables of one file hold. ``reading`` and ``storing`` are what the engine calls."""

    def __init__(self) -> None:
        self.noted: dict[Key, Noted] = {}
        #: The oldest piece below a node, by its identity; the node comes along so that it stays.
        self._oldest: dict[int, tuple[Node, Node]] = {}

    def reading(self, node: ast.expr, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return run
        key, name = _place(node)

        def read(frame: Any) -> Any:
            value = run(frame)
            self._note(key, name, frame.rt, value)
            return value

        return read

    def storing(
        self, node: ast.Name | ast.Attribute, store: Callable[[Any, Any], None]
    ) -> Callable[[Any, Any], None]:
        key, name = _place(node)

        def stored(frame: Any, value: Any) -> None:
            store(frame, value)
            self._note(key, name, frame.rt, value)

        return stored

    # One moment --------------------------------------------------------------------------------------

    def _note(self, key: Key, name: str, rt: Any, value: Any) -> None:
        noted = self.noted.get(key)
        if noted is None:
            noted = self.noted[key] = Noted(name)
        if len(noted.states) < MOMENTS or rt.where in noted.states:
            noted.states[rt.where] = rt, self._state(value, rt.where)

    def _state(self, value: Any, now: Where) -> State:
        kind = type(value)
        if kind in _PLAIN:
            return State(tensor=False)
        inside = [value] if kind is Tensor else list(tensors_in(value, 4))[:64]
        with_graph = [each for each in inside if each.node is not None]
        if with_graph:
            oldest = {id(each): self.oldest(each.node) for each in with_graph}
            each = min(with_graph, key=lambda each: oldest[id(each)].seq)
            return self._graph(each, oldest[id(each)], now)
        if kind is Obj:  # an optimizer, a module: what it holds without a graph is no news
            return State(tensor=False)
        tensors = [each for each in inside if type(each) is Tensor]
        cuts = [
            each.cut for each in [*tensors, value] if type(each) in (Tensor, Sym) and each.cut is not None
        ]
        cut = next((cut.site for cut in cuts if isinstance(cut, Cut)), None)
        leaf = next((each for each in tensors if each.leaf_grad), None)
        return State(bool(tensors) or cut is not None, leaf is not None, cut=None if leaf else cut)

    def _graph(self, value: Any, oldest: Node, now: Where) -> State:
        node: Node = value.node
        built, back = _since(node, now), _since(oldest, now)
        freed = next(
            (each.freed for _, each in zip(range(PIECES), reachable([node])) if _is_freed(each)), None
        )
        return State(
            guess=value.guess > 0 or node.guess > 0,
            built=built,
            back=None if (back.ago, back.before) == (built.ago, built.before) else back,
            freed=None if freed is None else _since(freed, now),
            in_part=freed is not None and node.freed is None,
        )

    def oldest(self, node: Node) -> Node:
        """The piece of a graph that was built first; leaves are none."""
        stack = [node]
        while stack:
            top = stack[-1]
            if id(top) in self._oldest:
                stack.pop()
                continue
            inputs = [each for each in top.inputs if each.leaf is None]
            missing = [each for each in inputs if id(each) not in self._oldest]
            if missing:
                stack.extend(missing)
                continue
            candidates = [top, *(self._oldest[id(each)][1] for each in inputs)]
            self._oldest[id(top)] = top, min(candidates, key=lambda each: each.seq)
            stack.pop()
        return self._oldest[id(node)][1]


def _is_freed(node: Node) -> bool:
    return node.freed is not None and node.saves != NEVER


def _since(what: Node | Pass, now: Where) -> Since:
    parting = Parting(what.where, now)
    site = lift(what.site, what.where, parting.common) if what.site is not None else None
    in_loop = any(True for _ in loops_of(now))
    if parting.loop is not None:
        return Since(site, parting.earlier, parting.later - parting.earlier, in_loop=in_loop)
    return Since(site, before=any(link.loop is not None for link in parting.rest_b), in_loop=in_loop)


def _place(node: ast.Name | ast.Attribute) -> tuple[Key, str]:
    """Where the name stands (of an attribute: the part after the dot), and the whole as it is said."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    if isinstance(node, ast.Name):
        return (node.lineno, node.col_offset, end_line, end), node.id
    return (end_line, end - len(node.attr.encode()), end_line, end), ast.unparse(node)


# Sentences -------------------------------------------------------------------------------------------------


def held(source: SourceFile, provider: Provider) -> Held:
    """What the variables of a file hold, where the cursor may be."""
    notebook = source.notebook
    cell_of = (lambda line: source.place(line)[0] or 0) if notebook is not None else None
    watch = Watch()

    def run() -> None:
        analyse(FileRecord(source.path, run_order(notebook, source.tree), watch), provider, cell_of)
        _run_the_rest(source, provider, watch)

    run_deep(run)
    context = Context(source, provider)
    spots: dict[int, list[Spot]] = {}
    for (line, start, end_line, end), noted in watch.noted.items():
        if line == end_line and noted.tensor:
            columns = source.column(line, start), source.column(line, end)
            spots.setdefault(line, []).append(Spot(*columns, _sentences(noted, context)))
    for (line, start, end), key in _parameters(source, watch):
        columns = source.column(line, start), source.column(line, end)
        spots.setdefault(line, []).append(Spot(*columns, _sentences(watch.noted[key], context)))
    return Held(spots)


def _run_the_rest(source: SourceFile, provider: Provider, watch: Watch) -> None:
    """Runs the functions that no program of the file has come to, with arguments that are not known."""
    shared = Shared(FileRecord(source.path, source.tree, watch), provider)
    steps = 0
    for entry, last_line in _functions(source.tree):
        visited = any(entry.line < line <= last_line for line, *_ in watch.noted)
        if not visited and steps < MOST_STEPS:
            spent = Analysis()
            rt, _ = run_decided(shared, entry, spent, {}, limit=MOST_STEPS - steps)
            steps += rt.steps + spent.steps


def _functions(tree: ast.Module) -> Iterator[tuple[Entry, int]]:
    """The functions and methods of a file, each as an entry point, with its last line."""
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in inside:
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                cls = node.name if isinstance(node, ast.ClassDef) else None
                yield Entry(function.lineno, function.name, cls), function.end_lineno or function.lineno


def _parameters(source: SourceFile, watch: Watch) -> Iterator[tuple[tuple[int, int, int], Key]]:
    """A function's parameters hold what is read of them first."""
    for function in ast.walk(source.tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first: dict[str, ast.Name] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                known = first.get(node.id)
                if known is None or (node.lineno, node.col_offset) < (known.lineno, known.col_offset):
                    first[node.id] = node
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            read = first.get(each.arg)
            if read is None or not isinstance(read.ctx, ast.Load):
                continue
            key = _place(read)[0]
            noted = watch.noted.get(key)
            if noted is not None and noted.tensor:
                end = each.col_offset + len(each.arg.encode())
                yield (each.lineno, each.col_offset, end), key


def _sentences(noted: Noted, context: Context) -> tuple[Message, ...]:
    """What to say of a place: the same of all calls, or of each line that calls."""
    calls: dict[Any, tuple[Site | None, Noted]] = {}
    for moment, state in noted.states.items():
        site = _call(moment)
        key = site.key if site is not None else None
        calls.setdefault(key, (site, Noted(noted.name)))[1].states[moment] = state
    told = [(site, tuple(_of_one_call(part, context))) for site, part in calls.values()]
    if len({sentences for _, sentences in told}) == 1:
        return told[0][1]
    told.sort(key=lambda each: each[0] is None)
    return tuple(
        Message.of("lsp.held.called", where=context.line(site), text=_joined(sentences))
        if site is not None
        else Message.of("lsp.held.also", text=_joined(sentences))
        for site, sentences in told[:MOST]
    )


def _call(moment: Where) -> Site | None:
    """Where the function that a moment is in was called; None at module level, and where it is not known."""
    link: Where | None = moment
    while link is not None:
        if link.loop is None and link.site is not None:
            # Who calls an entry point is not known.
            return None if isinstance(link.site.node, ast.Module) else link.site
        link = link.parent
    return None


def _of_one_call(noted: Noted, context: Context) -> Iterator[Message]:
    """One sentence, or one for each stretch of iterations in which it is another one."""
    groups: list[tuple[int, int, State]] = []
    for iteration, state in _of_one_loop(noted):
        if groups and groups[-1][2].mark == state.mark:
            groups[-1] = (groups[-1][0], iteration, state)
        else:
            groups.append((iteration, iteration, state))
    told = groups[:MOST]
    for number, (first, last, state) in enumerate(told):
        text = _told(noted.name, state, context)
        if len(groups) == 1:
            yield text
        elif first == last:
            yield Message.of("lsp.held.in", iteration=first, text=text)
        elif number + 1 == len(groups):
            yield Message.of("lsp.held.from", iteration=first, text=text)
        else:
            yield Message.of("lsp.held.range", first=first, last=last, text=text)
    marks = {state.mark for _, _, state in told}
    other = next((state for _, state in noted.states.values() if state.mark not in marks), None)
    if other is not None:
        yield Message.of("lsp.held.also", text=_told(noted.name, other, context))


def _of_one_loop(noted: Noted) -> list[tuple[int, State]]:
    """The states by iteration, in the first run and in the loop that was there longest."""
    first = next(run for run, _ in noted.states.values())
    loops: dict[LoopRun | None, dict[int, State]] = {}
    for moment, (run, state) in noted.states.items():
        if run is first:
            loop = next(iter(loops_of(moment)), None)
            iteration = loop.iteration if loop is not None else 1
            loops.setdefault(loop.loop if loop is not None else None, {})[iteration] = state
    if len(loops) > 1:
        loops.pop(None, None)  # before the loop, as the first test of a ``while`` is
    return list(max(loops.values(), key=len).items())


def _joined(sentences: tuple[Message, ...]) -> Message:
    text = sentences[0]
    for part in sentences[1:]:
        text = Message.of("lsp.held.and", first=text, second=part)
    return text


def _told(name: str, state: State, context: Context) -> Message:
    if state.built is None:
        if state.leaf:
            return Message.of("lsp.held.leaf", name=name)
        if state.cut is not None:
            return Message.of("lsp.held.cut", name=name, where=context.line(state.cut))
        return Message.of("lsp.held.none", name=name)
    parts = [
        Message.of(
            "lsp.held.guess" if state.guess else "lsp.held.graph",
            name=name,
            built=_when(state.built, context),
        )
    ]
    if state.back is not None:
        parts.append(Message.of("lsp.held.back", back=_when(state.back, context)))
    if state.freed is not None:
        key = "lsp.held.freed-in-part" if state.in_part else "lsp.held.freed"
        parts.append(Message.of(key, freed=_when(state.freed, context)))
    return _joined(tuple(parts))


def _when(since: Since, context: Context) -> Message:
    """``line 12``, ``line 12 in the same iteration``, ``… in the iteration before``, ``… before the loop``."""
    if since.site is None:
        return Message.of("lsp.held.somewhere")
    where = context.line(since.site)
    if since.before:
        return Message.of("lsp.held.when.before-loop", where=where)
    if since.ago == 1:
        return Message.of("lsp.held.when.previous", where=where)
    if since.iteration is not None:
        return Message.of("lsp.held.when.iteration", where=where, iteration=since.iteration)
    return Message.of("lsp.held.when.same", where=where) if since.in_loop else where

"""Run a script under real PyTorch, in a process of its own, and say what it shows.

    python run_block.py FILE [--steps NAME] [--counts 4,8] [--origins]     one report as JSON

``observe`` is the way in. It forks, so that torch is imported once for many scripts, runs the
script as ``__main__`` and reads three things that PyTorch does not say by itself:

* every backward pass, through a stand-in for the engine that all of them go through
  (``Tensor.backward``, ``autograd.grad``, LBFGS closures, ...). Each node that a pass frees gets a
  mark in ``node.metadata``, which lives as long as the node. A later pass that meets a mark walks an
  old graph again;
* what is alive: the graph nodes that the script's variables still reach, sampled whenever one of its
  functions returns and at the end. A script is run twice, with 4 and with 8 steps; if the larger run
  keeps more nodes alive, the graph grows;
* every optimizer step: which parameters had a gradient.

What a script shows is one word (``Report.outcome``), the first of these that applies:

    second-backward   RuntimeError: trying to backward through the graph a second time
    inplace-version   RuntimeError: a variable needed for gradient was modified by an inplace operation
    leaf-inplace      RuntimeError: a leaf that requires grad was used in an in-place operation
    no-grad-fn        RuntimeError: element 0 of tensors does not require grad
    error             any other exception, or no answer in time (its text is in ``error``)
    silent            no exception, but a pass walked through a graph that an earlier pass had freed,
                      after the parameters below it had changed: its gradient belongs to old values
    grows             no exception, but more steps keep more graph nodes alive
    not-trained       a parameter group holds nothing that had a gradient at any step of its optimizer,
                      though some of it requires one
    clean             none of these

A view of a parameter (``p.view(-1)``, ``p[0]``) that is made once and walked by every pass is not
``silent``: it shares the parameter's memory, so its gradient is right.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import runpy
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

MESSAGES = {
    "backward through the graph a second time": "second-backward",
    "modified by an inplace operation": "inplace-version",
    "leaf Variable that requires grad": "leaf-inplace",
    "does not require grad and does not have a grad_fn": "no-grad-fn",
}
RAISING = frozenset(MESSAGES.values()) | {"error"}

#: Nodes that save nothing and whose value is their input's own memory.
VIEWS = re.compile(
    r"(Alias|AsStrided|Diagonal|Expand|Permute|Select|Slice|Split|SplitWithSizes|Squeeze|T|Transpose|Unbind"
    r"|Unfold|Unsqueeze|UnsafeView|View|ViewAs)Backward\d*"
)
MARK = "loopgrad_freed"


@dataclass
class Report:
    """What one script shows. Lines count from 1 in the script."""

    outcome: str = "clean"
    #: Everything of ``silent``, ``grows``, ``not-trained`` that holds, whatever ``outcome`` says.
    facts: list[str] = field(default_factory=list)
    error: str | None = None
    #: The innermost line of the script in the traceback, and all of them from the outermost on.
    line: int | None = None
    lines: list[int] = field(default_factory=list)
    #: How many backward passes this line had started when it raised (the iteration, for one pass each).
    iteration: int | None = None
    #: The lines of the passes that had freed what the last bad pass met again (``silent`` or raising).
    freed_lines: list[int] = field(default_factory=list)
    #: With ``origins``: the script's lines that built those nodes, callers included.
    built_lines: list[int] = field(default_factory=list)
    #: The line of each backward pass, in order (the first 1000).
    passes: list[int | None] = field(default_factory=list)
    #: The first pass of a ``silent`` run that walks an old graph, as its line.
    silent_line: int | None = None
    #: For each run: the most live nodes, and those of them that no pass has freed.
    nodes: list[int] = field(default_factory=list)
    nodes_unfreed: list[int] = field(default_factory=list)
    #: For each parameter group: how many parameters were stepped without ever having a gradient.
    untrained: list[list[int]] = field(default_factory=list)

    def shows(self, outcome: str) -> bool:
        return outcome == self.outcome or outcome in self.facts


def walk(roots: list[Any]) -> dict[int, Any]:
    """All nodes reachable from some. Holding them keeps their ids unique."""
    nodes: dict[int, Any] = {}
    stack = [node for node in roots if node is not None]
    while stack:
        node = stack.pop()
        if id(node) not in nodes:
            nodes[id(node)] = node
            stack.extend(nxt for nxt, _ in node.next_functions if nxt is not None)
    return nodes


class Watcher:
    """Stands in for the autograd engine and for nothing else: it looks, then lets the pass run."""

    def __init__(self, script: str, engine: Any) -> None:
        self.script = script
        self.engine = engine
        self.report = Report()
        #: For each pass: the leaves it reached and their versions at that time.
        self.leaves: list[dict[int, tuple[Any, int]]] = []
        self.steps: dict[tuple[int, int], dict[int, tuple[Any, bool]]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def run_backward(self, outputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        names = ("grads", "keep_graph", "create_graph", "inputs")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        line = self.current_line()
        if len(self.report.passes) < 1000:
            self.report.passes.append(line)
        executed = self.executed(outputs, given.get("inputs") or ())
        stale = [node for node in executed.values() if MARK in node.metadata]
        old = self.met_again(stale) if stale else False
        result = self.engine.run_backward(outputs, *args, **kwargs)
        if old and not self.report.facts:
            self.report.facts.append("silent")
            self.report.silent_line = line
        if not given.get("keep_graph"):
            number = len(self.leaves)
            leaves = (n.variable for n in executed.values() if hasattr(n, "variable"))
            self.leaves.append({id(v): (v, v._version) for v in leaves})
            for node in executed.values():
                if not hasattr(node, "variable"):
                    node.metadata.setdefault(MARK, (number, line))
        return result

    @staticmethod
    def executed(outputs: Sequence[Any], inputs: Sequence[Any]) -> dict[int, Any]:
        """The nodes that a pass runs: all, or those on a way to one of ``inputs``."""
        from torch.autograd.graph import get_gradient_edge

        def node_of(value: Any) -> Any:
            return value.node if hasattr(value, "node") else value.grad_fn

        nodes = walk([node_of(value) for value in outputs])
        if not inputs:
            return nodes
        # An input without a graph has no edge: torch says so itself when the pass runs.
        able = [v for v in inputs if hasattr(v, "node") or v.requires_grad]
        wanted = {id(v.node if hasattr(v, "node") else get_gradient_edge(v).node) for v in able}
        users: dict[int, list[int]] = {}
        for key, node in nodes.items():
            for nxt, _ in node.next_functions:
                if nxt is not None:
                    users.setdefault(id(nxt), []).append(key)
        needed: set[int] = set()
        stack = list(wanted)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in needed:
                    needed.add(user)
                    stack.append(user)
        return {key: node for key, node in nodes.items() if key in needed}

    def met_again(self, stale: list[Any]) -> bool:
        """A pass is about to walk nodes that an earlier one has freed: do they belong to old values?"""
        marks = {node.metadata[MARK] for node in stale}
        self.report.freed_lines = sorted({where for _, where in marks if where is not None})
        built = {at for node in stale for at in self.lines_of(node.metadata.get("traceback_", ()))}
        self.report.built_lines = sorted(built)
        if all(VIEWS.fullmatch(type(node).__name__) for node in stale):
            return False
        below = {id(n.variable): n.variable for n in walk(list(stale)).values() if hasattr(n, "variable")}
        return any(
            key in self.leaves[number] and self.leaves[number][key][1] != leaf._version
            for number, _ in marks
            for key, leaf in below.items()
        )

    def lines_of(self, stack: Sequence[str]) -> list[int]:
        place = re.compile(rf'"{re.escape(self.script)}", line (\d+)')
        return [int(number) for text in stack for number in place.findall(text)]

    def current_line(self) -> int | None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.script:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else None

    def after_step(self, optimizer: Any, *_: Any) -> None:
        """Runs after each step of each optimizer (after: a closure makes the gradients in the step)."""
        for number, group in enumerate(optimizer.param_groups):
            seen = self.steps.setdefault((id(optimizer), number), {-1: (optimizer, False)})
            for parameter in group["params"]:
                had = seen.get(id(parameter), (None, False))[1]
                seen[id(parameter)] = (parameter, had or parameter.grad is not None)

    def judge_steps(self) -> None:
        for seen in self.steps.values():
            parameters = [(p, had) for key, (p, had) in seen.items() if key != -1]
            trainable = [had for p, had in parameters if p.requires_grad]
            self.report.untrained.append([trainable.count(False), len(parameters)])
            if trainable and not any(had for _, had in parameters) and "not-trained" not in self.report.facts:
                self.report.facts.append("not-trained")


def live_nodes(*scopes: Mapping[str, Any]) -> tuple[int, int]:
    """Count the nodes that the tensors in some scopes reach, and those that no pass has freed."""
    import torch

    tensors: list[torch.Tensor] = []
    seen: dict[int, object] = {}

    def collect(value: object, depth: int) -> None:
        if id(value) in seen or depth < 0:
            return
        seen[id(value)] = value
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            if value.is_leaf and value.grad is not None:
                collect(value.grad, depth - 1)
            if value._base is not None:  # a view, also one taken under no_grad, keeps it alive
                collect(value._base, depth - 1)
        elif isinstance(value, dict):
            for item in list(value.values()):
                collect(item, depth - 1)
        elif isinstance(value, (list, tuple, set, frozenset, deque)):
            for item in list(value):
                collect(item, depth - 1)
        elif hasattr(value, "__dict__") and not isinstance(value, type) and type(value).__name__ != "module":
            collect(vars(value), depth - 1)

    for scope in scopes:
        for name, value in list(scope.items()):
            if not name.startswith("__"):
                collect(value, 7)
    nodes = walk([t.grad_fn for t in tensors])
    unfreed = sum(MARK not in n.metadata and not hasattr(n, "variable") for n in nodes.values())
    return len(nodes), unfreed


def circles() -> list[Any]:
    """The leaves whose gradient has a graph: it may lead back to them, so that they live though no scope holds them."""
    import torch

    # By its type: isinstance would ask a weak proxy, whose object may be gone.
    tensors = (value for value in gc.get_objects() if issubclass(type(value), torch.Tensor))
    alive = (value for value in tensors if value.is_leaf)
    return [leaf for leaf in alive if leaf.grad is not None and leaf.grad.grad_fn is not None]


def run_here(script: str, origins: bool) -> Report:
    """Run a script in this process. The process is of no use to anyone afterwards."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    folder = str(Path(script).parent)
    sys.path.insert(0, folder)
    sys.argv = [script]
    os.chdir(folder)
    watcher = Watcher(script, torch.autograd.Variable._execution_engine)
    torch.autograd.Variable._execution_engine = watcher
    register_optimizer_step_post_hook(watcher.after_step)
    if origins:
        torch.autograd.set_detect_anomaly(True, check_nan=False)
    most = [0, 0]

    def sample(*scopes: Mapping[str, Any]) -> None:
        most[:] = map(max, most, live_nodes(*scopes))

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != script:
            return None
        if event == "return":
            sample(frame.f_locals, frame.f_globals)
        return trace

    report = watcher.report
    try:
        sys.settrace(trace)
        try:
            scope = runpy.run_path(script, run_name="__main__")
        finally:
            sys.settrace(None)
        sample(scope, {"circles": circles()})
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit) or error.code not in (0, None):
            report.error = f"{type(error).__name__}: {error}"[:500]
            kinds = [kind for text, kind in MESSAGES.items() if text in str(error)]
            report.outcome = kinds[0] if kinds and isinstance(error, RuntimeError) else "error"
            stack = traceback.extract_tb(error.__traceback__)
            report.lines = [f.lineno for f in stack if f.filename == script and f.lineno is not None]
            report.line = report.lines[-1] if report.lines else None
            report.iteration = report.passes.count(report.line) or None
    report.nodes, report.nodes_unfreed = [most[0]], [most[1]]
    watcher.judge_steps()
    return report


def preload() -> None:
    """Import what scripts import, once, in the process that forks."""
    import torch._dynamo
    import torch.optim
    import torch.utils.data

    torch.set_num_threads(1)


def run_apart(
    source: str,
    filename: str = "script.py",
    *,
    files: Mapping[str, str] | None = None,
    origins: bool = False,
    timeout: float = 60.0,
) -> Report:
    """Run a script once, as it stands, in a forked process of its own."""
    preload()
    with tempfile.TemporaryDirectory(prefix="run_block-") as folder:
        for name, text in {**(files or {}), filename: source}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return fork(str(Path(folder, filename)), origins, timeout)


def fork(script: str, origins: bool, timeout: float) -> Report:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.close(reader)
            for stream in (0, 1, 2):
                os.dup2(os.open(os.devnull, os.O_RDWR), stream)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            said = asdict(run_here(script, origins))
        except BaseException as error:  # the parent must hear of everything
            said = asdict(Report(outcome="error", error=repr(error)[:500]))
        try:
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(json.dumps(said).encode())
        finally:
            os._exit(0)
    os.close(writer)
    answer = b""
    deadline = time.monotonic() + timeout
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        answer += chunk
    else:
        os.killpg(pid, signal.SIGKILL)
        answer = b""
    os.close(reader)
    os.waitpid(pid, 0)
    if not answer:
        return Report(outcome="error", error=f"no answer within {timeout:g} s, or the process died")
    return Report(**json.loads(answer))


def set_steps(source: str, name: str, count: int) -> str:
    """Write a number into the line ``name = <number>`` of a script (the first such line)."""
    pattern = rf"^(\s*{re.escape(name)}\s*=\s*)\d+"
    changed, hits = re.subn(pattern, rf"\g<1>{count}", source, count=1, flags=re.M)
    if not hits:
        raise ValueError(f"the script has no line '{name} = <number>'")
    return changed


def observe(
    source: str,
    *,
    steps: str | None = None,
    counts: Sequence[int] = (4, 8),
    filename: str = "script.py",
    files: Mapping[str, str] | None = None,
    origins: bool = False,
    timeout: float = 60.0,
) -> Report:
    """Run a script and say what it shows.

    ``steps`` names the variable, assigned a number on a line of its own, that says how many
    iterations run; without it the script runs once, as it stands, and growth is not looked for.
    ``files`` are modules beside it. ``origins`` also asks where the graphs were built (slower).
    """
    scripts = [set_steps(source, steps, n) for n in counts] if steps else [source]
    reports = []
    for script in scripts:
        report = run_apart(script, filename, files=files, origins=origins, timeout=timeout)
        if report.outcome in RAISING:
            return report
        reports.append(report)
    last = reports[-1]
    last.nodes = [n for report in reports for n in report.nodes]
    last.nodes_unfreed = [n for report in reports for n in report.nodes_unfreed]
    if len(last.nodes) > 1 and last.nodes[-1] > last.nodes[0]:
        last.facts.append("grows")
    order = ("silent", "grows", "not-trained")
    last.facts.sort(key=order.index)
    last.outcome = last.facts[0] if last.facts else "clean"
    return last


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a script under PyTorch and say what it shows.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--steps")
    parser.add_argument("--counts", default="4,8", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--origins", action="store_true")
    options = parser.parse_args()
    source = options.file.read_text(encoding="utf-8")
    report = observe(source, steps=options.steps, counts=options.counts, origins=options.origins)
    print(json.dumps(asdict(report), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

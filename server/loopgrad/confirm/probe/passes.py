"""Every backward, seen through a stand-in for the autograd engine.

``Tensor.backward``, ``autograd.grad``, closures of optimizers, Lightning, accelerate and DDP all call
``torch.autograd.Variable._execution_engine.run_backward`` (``torch/autograd/__init__.py`` and, since 2.3,
``torch/autograd/graph.py``). The stand-in walks the graph before the pass, lets the pass run, and marks what
it freed. A later pass that meets a mark walks an old graph again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from .graph import FREED, Node, executed, is_leaf, is_view, node_of, walk
from .places import Activation, Place, Places

_PARAMETERS = ("grads", "keep_graph", "create_graph", "inputs")


@dataclass
class Pass:
    """One backward: where it was called, in which loops, and the sequence number when it ended."""

    index: int
    site: Place | None
    loops: list[tuple[Activation, int]]
    retained: bool
    #: It adds to ``.grad``, as ``backward()`` does and ``autograd.grad`` does not.
    accumulates: bool = True
    ended: int = 0
    nodes: int = 0
    #: The leaves below, with their versions then.
    versions: dict[int, int] = field(default_factory=dict)


@dataclass
class Running:
    """A pass that is about to run, for those who look at it."""

    record: Pass
    outputs: Sequence[Any]
    nodes: list[Node]
    stale: list[Node]
    frames: list[FrameType]


class Engine:
    """Stands in for the engine and for nothing else."""

    def __init__(self, places: Places) -> None:
        self._real = torch.autograd.Variable._execution_engine
        self._places = places
        self._owner = os.getpid()
        self.passes: list[Pass] = []
        self.before: Callable[[Running], None] = lambda running: None
        self.after: Callable[[Running, bool], None] = lambda running, silent: None
        self.failed: Callable[[Running, RuntimeError], None] = lambda running, error: None

    def install(self) -> None:
        stand_in: Any = self
        torch.autograd.Variable._execution_engine = stand_in

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def run_backward(self, outputs: Sequence[Any], *args: Any, **options: Any) -> Any:
        if os.getpid() != self._owner:
            return self._real.run_backward(outputs, *args, **options)
        running = None
        try:
            given = {**dict(zip(_PARAMETERS, args)), **options}
            running = self._look(outputs, given, sys._getframe(1))
            self.before(running)
            try:
                result = self._real.run_backward(outputs, *args, **options)
            except RuntimeError as error:
                self.failed(running, error)
                raise
            self._done(running)
            return result
        finally:
            running = None  # a traceback must not keep the graph

    def _look(self, outputs: Sequence[Any], given: dict[str, Any], frame: FrameType | None) -> Running:
        frames = list(self._places.frames(frame))
        loops = self._places.active([(item, item.f_lineno) for item in frames])
        site = (frames[0].f_code.co_filename, frames[0].f_lineno) if frames else None
        keep = given.get("keep_graph")
        record = Pass(len(self.passes), site, [(loop, loop.count) for loop in loops], bool(keep))
        record.accumulates = bool(given.get("accumulate_grad", True))
        self.passes.append(record)
        roots = [node_of(value) for value in outputs]
        nodes = executed(roots, given.get("inputs") or ())
        record.nodes = len(nodes)
        stale = [node for node in nodes if not is_leaf(node) and FREED in node.metadata]
        return Running(record, outputs, nodes, stale, frames)

    def _done(self, running: Running) -> None:
        record = running.record
        silent = bool(running.stale) and self._is_silent(running.stale)
        record.ended = self._places.number()
        record.versions = {id(leaf): leaf._version for leaf in leaves(running.nodes)}
        if record.index >= 256:
            self.passes[record.index - 256].versions = {}
        if not record.retained:
            for node in running.nodes:
                if not is_leaf(node):
                    node.metadata.setdefault(FREED, record.index)
        self.after(running, silent)

    def _is_silent(self, stale: list[Node]) -> bool:
        """Whether old nodes belong to old values: a leaf below has changed since they were freed.

        A view of a parameter that is made once and walked by every pass is right: it shares its memory.
        """
        computing = [node for node in stale if not is_view(node)]
        for node in computing[:64]:
            then = self.passes[node.metadata[FREED]].versions
            if any(then.get(id(leaf), leaf._version) != leaf._version for leaf in leaves(walk([node]))):
                return True
        return False


def leaves(nodes: list[Node]) -> list[torch.Tensor]:
    """The tensors that some nodes accumulate into."""
    return [node.variable for node in nodes if is_leaf(node)]

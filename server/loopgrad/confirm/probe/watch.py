"""The watch over one run: what its parts see is put together, told to the host, and ended in time.

*When it ends.* A loop in whose iterations a backward runs has done its share after ``steps`` of them: an
inner one is left, the outermost ends the run. An implicit loop (``trainer.fit``, a comprehension) shows as
the same stack of the user's lines calling backward again within one iteration of the loops around; of the
passes that an optimizer makes within one step by its closure, the first alone counts. If a graph that nothing
has consumed is growing then, the run goes on behind the loop for a moment, since a backward there may consume
it; if something is kept now and then, the loop goes on.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from .channel import Channel
from .faults import Explainer, Fault, in_loops, outcome_of
from .graph import NAMES, node_of
from .growth import Growth
from .job import Job
from .names import Names
from .passes import Engine, Running
from .places import Activation, Place, Places
from .training import Training

#: How long a run goes on behind its last loop to see whether something consumes what it keeps.
_GRACE = 10.0
_LONGEST = 4


class Watch:
    def __init__(self, job: Job, channel: Channel, stop: Callable[[str], None]) -> None:
        self.job = job
        self.channel = channel
        self._stop = stop
        compiler = getattr(torch, "compiler", None)
        compiling = getattr(compiler, "is_compiling", None) or torch._utils.is_compiling
        self.places = Places(torch.autograd._get_sequence_nr, compiling, details=job.details)
        self.engine = Engine(self.places)
        self.growth = Growth(self.places, self._user_frames)
        self.explainer = Explainer(self.places, self.engine)
        self.training = Training(self._user_frames, self._stepped)
        self._has_names = "names" not in job.without
        self._implicit: dict[tuple[Place, ...], tuple[tuple[int, int], Activation]] = {}
        self._snapshots = 0
        #: The optimizer's step in which a pass last ran.
        self._closure = 0
        self._step: tuple[int, int] | None = None
        self.steps = 0
        self._deadline = 0.0
        self._latest = time.monotonic() + job.seconds
        self._owner = threading.get_ident()
        self._explained = 0
        #: Calls of modules so far, and the most iterations of a loop that had some: an evaluation.
        self._forwards = 0
        self._evaluated = 0

    def install(self) -> None:
        places = self.places
        places.on_tick, places.on_leave = self._tick, self._leave
        self.engine.before, self.engine.after = self._before, self._after
        self.engine.failed = self._failed
        self.engine.install()
        if "training" not in self.job.without:
            self.training.install()
        if "growth" in self.job.without:
            self.growth.switch_off()
        self._hook: Any = torch.nn.modules.module.register_module_forward_pre_hook(self._forward)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.switch_off)

    def switch_off(self) -> None:
        """In a forked worker nothing is watched: the injected calls become as good as none."""
        import builtins

        for name in ("__lg_mark__", "__lg_enter__", "__lg_leave__", "__lg_tick__"):
            setattr(builtins, name, lambda argument: False)
        builtins.__lg_back__ = lambda value: value  # type: ignore[attr-defined]

    def _forward(self, module: Any, _: Any) -> None:
        """Counts modules' calls until the first backward: all that an evaluation shows."""
        self._forwards += 1

    def drop_hook(self) -> None:
        """With the first backward. Before that too where something is compiled: guards meet global hooks."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _user_frames(self) -> list[FrameType]:
        return list(self.places.frames(sys._getframe(1)))

    def _stepped(self) -> None:
        self.explainer.stepped = self.places.number()

    # Loops -----------------------------------------------------------------------------------------

    def _tick(self, activation: Activation) -> bool:
        """The start of an iteration; true if the loop has done its share."""
        if threading.get_ident() != self._owner:
            return False
        nodes = self.growth.on_tick(activation)
        if self._step == (activation.serial, activation.count - 1):
            self._finish_step(nodes)
        elif not activation.passed:
            self._evaluating(activation)
        if time.monotonic() > self._latest:
            self._stop("time")
        if activation.passed:
            activation.ran = dict(self.places.ran)
            self._snapshot()
        if self._deadline and time.monotonic() > self._deadline:
            self._stop("steps")
        return activation.passed >= self.job.steps and self._share_done(activation)

    def _share_done(self, activation: Activation) -> bool:
        record = self.growth.records.get(activation.serial)
        if record is not None and record.undecided() and activation.passed < _LONGEST * self.job.steps:
            return False
        frames = self._user_frames()
        around = self.places.active([(frame, frame.f_lineno) for frame in frames])
        if around and around[0] is not activation:
            return True
        self._end_of_loops()
        return True

    def _end_of_loops(self) -> None:
        if self._deadline:
            return
        if any(record.is_open for record in self.growth.growing()):
            self._deadline = time.monotonic() + _GRACE
            return
        self._stop("steps")

    def _leave(self, activation: Activation) -> None:
        if threading.get_ident() != self._owner:
            return
        nodes = self.growth.on_leave(activation)
        if self._step == (activation.serial, activation.count):
            self._finish_step(nodes)
        elif not activation.passed:
            activation.count += 1
            self._evaluating(activation)

    def _evaluating(self, activation: Activation) -> None:
        if self._forwards != activation.seen and not activation.in_forward:
            self._evaluated = max(self._evaluated, activation.count - 1)
        activation.seen = self._forwards

    def _finish_step(self, nodes: int) -> None:
        self._step = None
        self.channel.send("step", step=self.steps, nodes=nodes)

    # Passes ----------------------------------------------------------------------------------------

    def _before(self, running: Running) -> None:
        self.drop_hook()
        self.training.reach(running.nodes)
        record = running.record
        if not self.training.stepping or self._closure != self.training.begun:
            self._implicit_tick(running)
        self._closure = self.training.begun
        for loop, count in record.loops:
            loop.trains = loop.trains or record.accumulates
            if loop.last_passed != count:
                loop.last_passed = count
                loop.passed += 1
        innermost = next((item for item in reversed(record.loops) if item[0].line or item[1] > 1), None)
        step = (innermost[0].serial, innermost[1]) if innermost else (0, record.index)
        if step != self._step:
            if self._step is not None:
                self._finish_step(-1)
            self._step = step
            self.steps += 1
        if record.index < 64:
            self.channel.send("pass", index=record.index, nodes=record.nodes, loss=_value(running.outputs))

    def _implicit_tick(self, running: Running) -> None:
        """Counts passes that the same lines start again within one iteration of the loops around."""
        record = running.record
        stack = tuple((frame.f_code.co_filename, frame.f_lineno) for frame in running.frames)
        within = (record.loops[-1][0].serial, record.loops[-1][1]) if record.loops else (0, 0)
        known = self._implicit.get(stack)
        if known is None or known[0] != within:
            path = stack[0][0] if stack else ""
            known = (within, self.places.new((path, 0, 0)))
            self._implicit[stack] = known
        activation = known[1]
        activation.count += 1
        activation.starts.append(self.places.number())
        nodes = self.growth.on_tick(activation)
        if activation.count > 1:
            record.loops.append((activation, activation.count))
            if nodes >= 0 and self._step is not None:
                self._finish_step(nodes)
        if activation.count > self.job.steps:
            grows = self.growth.records.get(activation.serial)
            if grows is None or not grows.undecided() or activation.count > _LONGEST * self.job.steps:
                self._end_of_loops()
        elif activation.count == 1:
            record.loops.append((activation, 1))

    def _after(self, running: Running, silent: bool) -> None:
        if not running.record.retained:
            self.growth.consume(running.nodes)
        if silent:
            self.tell(self.explainer.explain(running, "silent"))
        self._snapshot()
        if self._deadline and not any(record.is_open for record in self.growth.growing()):
            self._stop("steps")

    def _failed(self, running: Running, error: RuntimeError) -> None:
        outcome = outcome_of(error)
        if outcome is not None:
            self._explained = id(error)
            self.tell(self.explainer.explain(running, outcome))

    def _snapshot(self) -> None:
        """Writes onto the nodes what the live frames call their tensors."""
        if not self._has_names:
            return
        self._snapshots += 1
        names = Names(self._user_frames(), lambda tensor: tensor.grad_fn is not None)
        for tensor, _ in list(names.found.values()):
            called = names.of(tensor)
            node = tensor.grad_fn
            if node is None:
                continue
            known = node.metadata.get(NAMES)
            if known is not None and known[0] == self._snapshots:
                called = list(dict.fromkeys([*known[1], *called]))
            node.metadata[NAMES] = (self._snapshots, tuple(called))

    # What is told ----------------------------------------------------------------------------------

    def tell(self, fault: Fault) -> None:
        self.channel.send(
            "fault",
            outcome=fault.outcome,
            raised_at=fault.raised_at,
            freed_at=fault.freed_at,
            built_at=fault.built_at,
            built_through=fault.built_through,
            iteration=fault.iteration,
            loop=fault.loop,
            loops=fault.loops,
            carriers=fault.carriers,
            ran=self._last_runs(fault.before),
        )

    def _last_runs(self, ran: dict[Place, int] | None = None) -> list[Place]:
        """The statements that have run, the last first: they tell which of several stores was it."""
        ran = ran or self.places.ran
        return sorted(ran, key=lambda place: -ran[place])[:4000]

    def raised(self, error: BaseException, frames: list[tuple[FrameType, int]]) -> None:
        """An exception that no backward raised: where it came from, and in which iteration."""
        loops = [(loop, loop.count) for loop in self.places.active(frames)]
        outcome = outcome_of(error)
        if outcome is None or id(error) == self._explained:
            return
        place = (frames[0][0].f_code.co_filename, frames[0][1]) if frames else None
        fault = in_loops(Fault(outcome, raised_at=place, built_at=place), loops, None)
        self.tell(fault)

    def report(self) -> dict[str, Any]:
        """What the run as a whole shows, sent with its end."""
        if self._step is not None:
            self._finish_step(-1)
        growing = []
        for record in self.growth.growing():
            loop = record.activation
            growing.append(
                {
                    "loop": (loop.path, loop.line) if loop.line else None,
                    "built_at": record.built,
                    "built_through": record.built_through,
                    "carriers": record.names,
                    "generations": [sample.count for sample in record.samples],
                }
            )
        return {
            "passes": len(self.engine.passes),
            "steps": self.steps,
            "evaluated": self._evaluated,
            "growing": growing,
            "untrained": self.training.untrained(),
            "parameters": self.training.report(),
            "ran": self._last_runs(),
        }


def _value(outputs: Any) -> str | None:
    """The loss, to the last bit, where it is one number."""
    for output in outputs:
        if isinstance(output, torch.Tensor) and output.numel() == 1 and node_of(output) is not None:
            try:
                return float(output.detach()).hex()
            except Exception:
                return None
    return None

"""Where the run is: active loops with their iterations, and which statement built which node.

Two facts about autograd make this cheap. Every node gets a sequence number from a counter of its thread when
it is made (``Node::sequence_nr``, torch/csrc/autograd/function.h), and ``torch.autograd._get_sequence_nr()``
reads that counter. So a mark ``(number, statement)`` before each statement tells which statement built a
node, and the numbers at a loop's ticks tell in which iteration: both by bisection.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

Place = tuple[str, int]

#: Marks kept for each thread; the older half goes when there are more.
_MOST_MARKS = 2_000_000


class Activation:
    """One run of a loop from its start to its end. ``line`` is 0 for a loop inside a library."""

    __slots__ = (
        "begun", "code", "count", "in_forward", "last", "last_passed", "line", "nested", "passed", "path", "ran", "seen",
        "serial", "starts", "trains",
    )  # fmt: skip

    def __init__(self, serial: int, loop: tuple[str, int, int], code: CodeType | None) -> None:
        self.serial = serial
        self.path, self.line, self.last = loop
        self.code = code
        self.count = 0
        #: The thread's sequence number at the start of each iteration.
        self.starts: list[int] = []
        #: The last iteration that ran a backward, and how many have.
        self.last_passed = 0
        self.passed = 0
        #: A backward that adds to ``.grad`` ran in it.
        self.trains = False
        #: Calls of modules when the iteration began.
        self.seen = 0
        #: Runs within a module's forward: a recurrence over time, no loop of training steps.
        self.in_forward = False
        #: How statements had last run when the iteration began; kept for loops that run backwards.
        self.ran: dict[Place, int] = {}
        #: Another loop is around it.
        self.nested = False
        #: How often this loop of the source has begun within another; 0 where nobody asked.
        self.begun = 0

    def iteration_of(self, number: int) -> int:
        """The iteration (from 1) that a node of this number was made in; 0 for before the loop."""
        return bisect_right(self.starts, number)


class _Marks:
    """What one thread has marked: statement ``where[i]`` ran from sequence number ``numbers[i]`` on."""

    __slots__ = ("numbers", "through", "where")

    def __init__(self) -> None:
        self.numbers: list[int] = [-1]
        self.where: list[Place | None] = [None]
        #: The calls that led to the statement, by its sequence number; of a run with details.
        self.through: dict[int, list[Place]] = {}

    def forget_half(self) -> None:
        del self.numbers[1 : _MOST_MARKS // 2]
        del self.where[1 : _MOST_MARKS // 2]
        self.through = {number: calls for number, calls in self.through.items() if number >= self.numbers[1]}


class Places:
    """The state that the injected calls keep. ``on_tick`` and ``on_leave`` are told of each activation."""

    def __init__(
        self, number: Callable[[], int], compiling: Callable[[], bool], *, details: bool = False
    ) -> None:
        self.number = number
        self._details = details
        self._compiling = compiling
        self._marks: dict[int, _Marks] = {}
        self._frames: dict[int, dict[int, Activation]] = {}
        self._serial = 0
        self.files: set[str] = set()
        self.on_tick: Callable[[Activation], bool] = lambda activation: False
        self.on_leave: Callable[[Activation], None] = lambda activation: None
        #: How often each statement has run, as the number of the last run among all.
        self.ran: dict[Place, int] = {}
        self._clock = 0

    # What is injected ------------------------------------------------------------------------------

    def calls(self) -> dict[str, Callable[[Any], Any]]:
        """The injected functions. Under torch.compile they are constants: ``compiling`` is folded."""
        number, compiling, ident = self.number, self._compiling, threading.get_ident
        table, ran, files, frame_at = self._marks, self.ran, self.files, sys._getframe
        details, calls_of = self._details, self._calls_of

        def mark(place: Place) -> None:
            if compiling():
                return
            self._clock += 1
            ran[place] = self._clock
            marks = table.get(ident())
            if marks is None:
                marks = table[ident()] = _Marks()
            now = number()
            if marks.numbers[-1] == now:
                marks.where[-1] = place
            else:
                marks.numbers.append(now)
                marks.where.append(place)
                if len(marks.numbers) > _MOST_MARKS:
                    marks.forget_half()
            if details:
                marks.through[now] = calls_of(frame_at(1))

        def back(value: Any) -> Any:
            if compiling():
                return value
            marks = table.get(ident())
            if marks is not None:
                caller = frame_at(1).f_back
                while caller is not None and caller.f_code.co_filename not in files:
                    caller = caller.f_back
                now = number()
                if caller is not None and marks.numbers[-1] != now:
                    marks.numbers.append(now)
                    marks.where.append((caller.f_code.co_filename, caller.f_lineno))
                elif caller is not None:
                    marks.where[-1] = (caller.f_code.co_filename, caller.f_lineno)
                if details and caller is not None:
                    marks.through[now] = calls_of(caller)
            return value

        def enter(loop: tuple[str, int, int]) -> None:
            if not compiling():
                self._enter(frame_at(1), loop)

        def tick(loop: tuple[str, int, int]) -> bool:
            if compiling():
                return False
            return self._tick(frame_at(1), loop)

        def leave(loop: tuple[str, int, int]) -> None:
            if compiling():
                return
            activation = self._frames.get(id(frame_at(1)), {}).pop(loop[1], None)
            if activation is not None:
                activation.starts.append(number())
                self.on_leave(activation)

        return {
            "__lg_mark__": mark,
            "__lg_back__": back,
            "__lg_enter__": enter,
            "__lg_tick__": tick,
            "__lg_leave__": leave,
        }

    def _enter(self, frame: FrameType, loop: tuple[str, int, int]) -> Activation:
        activation = self.new(loop, frame.f_code)
        loops = self._frames.setdefault(id(frame), {})
        if loops and next(iter(loops.values())).code is not frame.f_code:
            loops.clear()  # another frame has had this address
        loops[loop[1]] = activation
        activation.in_forward = _in_forward(frame)
        around = list(self.frames(frame))
        activation.nested = any(loop is not activation for loop in self._loops_of(around))
        return activation

    def _tick(self, frame: FrameType, loop: tuple[str, int, int]) -> bool:
        activation = self._frames.get(id(frame), {}).get(loop[1])
        if activation is None or activation.code is not frame.f_code:
            activation = self._enter(frame, loop)
        activation.count += 1
        activation.starts.append(self.number())
        return self.on_tick(activation)

    def new(self, loop: tuple[str, int, int], code: CodeType | None = None) -> Activation:
        self._serial += 1
        return Activation(self._serial, loop, code)

    # What is asked ---------------------------------------------------------------------------------

    def frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The user's frames from this one outwards."""
        while frame is not None:
            if frame.f_code.co_filename in self.files:
                yield frame
            frame = frame.f_back

    def _calls_of(self, frame: FrameType) -> list[Place]:
        """The lines of the user's that a frame has been called through, the innermost first."""
        return [(caller.f_code.co_filename, caller.f_lineno) for caller in self.frames(frame.f_back)]

    def _loops_of(self, frames: list[FrameType]) -> list[Activation]:
        return self.active([(frame, frame.f_lineno) for frame in frames])

    def active(self, frames: list[tuple[FrameType, int]]) -> list[Activation]:
        """The loops that these frames (each with its current line) are in, outermost first."""
        found: list[Activation] = []
        for frame, line in reversed(frames):
            loops = self._frames.get(id(frame), {})
            for activation in sorted(loops.values(), key=lambda item: item.line):
                if activation.code is frame.f_code and activation.line <= line <= activation.last:
                    if activation.count:
                        found.append(activation)
        return found

    def built_at(self, number: int) -> Place | None:
        """The statement that made the node of this number, in this thread."""
        marks = self._marks.get(threading.get_ident())
        if marks is None:
            return None
        return marks.where[bisect_right(marks.numbers, number) - 1]

    def built_through(self, number: int) -> list[Place]:
        """The calls that led to that statement, the innermost first; none without details."""
        marks = self._marks.get(threading.get_ident())
        if marks is None:
            return []
        return marks.through.get(marks.numbers[bisect_right(marks.numbers, number) - 1], [])


def _in_forward(frame: FrameType | None) -> bool:
    """Whether a frame runs within ``nn.Module.__call__``."""
    while frame is not None:
        if frame.f_code.co_name == "_call_impl" and "torch" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False

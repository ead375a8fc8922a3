"""What the worker does next, and the worker's life: started when needed, interrupted, replaced when it dies.

A job has a priority and a key. A newer job of the same key takes the place of an older one, queued or running:
the older one's future is cancelled, and the worker is told to stop. A job of low priority that runs when an
urgent one comes is interrupted and done again later. A worker that does not stop when told is killed.
"""

from __future__ import annotations

import asyncio
import enum
import itertools
import logging
import os
import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from loopgrad.lsp import wire

logger = logging.getLogger(__name__)

#: Seconds that an interrupted job may take to end, and that any job may take at all.
GRACE = 2.0
LIMIT = 120.0

#: After so many deaths without one finished job the worker is not started again for some time.
DEATHS = 3
PAUSE = 30.0


class Priority(enum.IntEnum):
    """Who waits: a person, the author of a document, other open documents, or nobody."""

    INTERACTIVE = 0
    EDITED = 1
    DEPENDENT = 2
    BACKGROUND = 3


class WorkerError(Exception):
    """The job could not be done: it ended the worker, or raised."""


@dataclass
class _Item:
    #: A new one each time it is sent: the worker may have been told to stop the one before.
    number: int
    job: wire.Job
    priority: Priority
    key: Hashable
    future: asyncio.Future[Any]
    on_start: Callable[[], None]
    order: int = 0
    #: Told to stop, and not to be done again.
    dropped: bool = False
    #: Told to stop in favour of a more urgent one.
    preempted: bool = False
    #: A worker went with it before: it may have been dying when the job reached it, so a second one tries.
    lost: bool = False


@dataclass
class AnalysisQueue:
    """The jobs of one worker.

    ``texts`` gives what the worker has to know before the next job; ``restarted`` is called for a new worker,
    which knows nothing. ``busy`` hears whether there is something to do.
    """

    texts: Callable[[], Iterable[Any]]
    restarted: Callable[[], None]
    busy: Callable[[bool], None] = lambda busy: None
    _waiting: list[_Item] = field(default_factory=list)
    _running: _Item | None = None
    _process: asyncio.subprocess.Process | None = None
    _answers: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _deaths: int = 0

    # Jobs --------------------------------------------------------------------------------------------

    def submit(
        self,
        job: wire.Job,
        priority: Priority,
        key: Hashable = None,
        on_start: Callable[[], None] = lambda: None,
    ) -> asyncio.Future[Any]:
        """Queues a job. Its future is cancelled when a newer job of the same key comes."""
        loop = asyncio.get_running_loop()
        number = next(self._numbers)
        item = _Item(
            number, job, priority, number if key is None else key, loop.create_future(), on_start, number
        )
        item.future.add_done_callback(lambda future: self._abandoned(item))
        self.cancel(item.key)
        self._waiting.append(item)
        running = self._running
        if running and running.priority >= Priority.DEPENDENT and priority < running.priority:
            running.preempted = True
            self._interrupt(running)
        self.start()
        self._wake.set()
        return item.future

    def cancel(self, key: Hashable) -> None:
        """Ends the job of a key, wherever it is."""
        for item in [item for item in self._waiting if item.key == key]:
            item.future.cancel()
        if self._running is not None and self._running.key == key:
            self._running.future.cancel()

    def _abandoned(self, item: _Item) -> None:
        """A future was cancelled, by us or by who awaited it: its job need not be done."""
        if not item.future.cancelled():
            return
        if item in self._waiting:
            self._waiting.remove(item)
        if item is self._running and not item.dropped:
            item.dropped = True
            self._interrupt(item)

    def _interrupt(self, item: _Item) -> None:
        self._send(wire.Cancel(item.number))
        self._stop.set()

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting) or self._running is not None

    # The loop ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the worker before there is a job, so that the first one need not wait for it."""
        if not self._tasks:
            self._task(self._pump())

    def _task(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pump(self) -> None:
        await self._spawn()
        while True:
            if not self._waiting:
                self.busy(False)
                self._wake.clear()
                await self._wake.wait()
                continue
            self.busy(True)
            item = min(self._waiting, key=lambda item: (item.priority, item.order))
            self._waiting.remove(item)
            self._running = item
            try:
                await self._run(item)
            except Exception as error:
                logger.exception("a job failed")
                self._fail(item, str(error))
            finally:
                self._running = None

    async def _run(self, item: _Item) -> None:
        if self._process is None or self._process.returncode is not None:
            await self._spawn()
        self._stop.clear()
        for message in self.texts():
            self._send(message)
        item.on_start()
        self._send(wire.Run(item.number, item.job))
        done = await self._answer()
        if done is None:
            self._lost(item)
            return
        self._deaths = 0
        if item.future.done():
            return
        if done.cancelled:
            self._again(item)
        elif done.error:
            self._fail(item, done.error)
        else:
            item.future.set_result(done.result)

    async def _answer(self) -> wire.Done | None:
        """The worker's answer to the running job, or None if the worker ends or has to be ended."""
        answer = asyncio.ensure_future(self._answers.get())
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({answer, stop}, timeout=LIMIT, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() and stop.done():
                await asyncio.wait({answer}, timeout=GRACE)
            if answer.done():
                result: wire.Done | None = answer.result()
                return result
            logger.warning("the worker does not stop and is ended")
            self.kill()
            await asyncio.wait({answer}, timeout=GRACE)
            return None
        finally:
            answer.cancel()
            stop.cancel()

    def _lost(self, item: _Item) -> None:
        """The worker has gone with a job: that one gets one more worker, and any number if it was only stopped."""
        self._process = None
        if item.future.done():
            return
        if item.preempted:
            self._again(item)
            return
        self._deaths += 1
        if not item.lost:
            item.lost = True
            self._again(item)
        else:
            self._fail(item, "the analysis ended its process")

    def _again(self, item: _Item) -> None:
        item.number = next(self._numbers)
        item.preempted = False
        self._waiting.append(item)

    @staticmethod
    def _fail(item: _Item, reason: str) -> None:
        if not item.future.done():
            item.future.set_exception(WorkerError(reason))
            item.future.exception()  # nobody has to look at it

    # The process -------------------------------------------------------------------------------------

    async def _spawn(self) -> None:
        if self._deaths >= DEATHS:
            await asyncio.sleep(PAUSE)
            self._deaths = 0
        self._process = await asyncio.create_subprocess_exec(
            *worker_command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        self._answers = asyncio.Queue()
        self._task(self._read(self._process, self._answers))
        self.restarted()

    @staticmethod
    async def _read(process: asyncio.subprocess.Process, answers: asyncio.Queue[Any]) -> None:
        assert process.stdout is not None
        try:
            while True:
                header = await process.stdout.readexactly(wire.HEADER.size)
                data = await process.stdout.readexactly(wire.HEADER.unpack(header)[0])
                answers.put_nowait(wire.unpack(data))
        except (asyncio.IncompleteReadError, ConnectionError):
            answers.put_nowait(None)
        await process.wait()

    def _send(self, message: Any) -> None:
        if self._process is not None and self._process.stdin is not None:
            if not self._process.stdin.is_closing():
                self._process.stdin.write(wire.pack(message))

    def kill(self) -> None:
        """Ends the worker at once."""
        if self._process is not None and self._process.returncode is None:
            try:
                self._process.kill()
            except ProcessLookupError:
                pass


def worker_command() -> list[str]:
    """How to start the worker: by this Python, with this path, and with nothing of the working folder on it."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    here = os.getcwd()
    path = [part for part in sys.path if part and (os.path.abspath(part) != here or part == package)]
    path = list(dict.fromkeys([*path, package]))
    engine = os.environ.get("LOOPGRAD_ENGINE_PATH")
    if engine:
        path.append(engine)
    code = f"import sys; sys.path[:] = {path!r}; from loopgrad.lsp.worker import main; main()"
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", code]

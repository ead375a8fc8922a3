"""From what was observed to a verdict: confirmed, clean or inconclusive, and why.

*Confirmed* needs an outcome that the run has shown: an exception of PyTorch's that nobody caught, an old graph
walked again with a changed leaf below, generations that stay alive, an optimizer that steps without one
gradient. *Clean* needs a run that came to a backward (or, for an evaluation, to the model) and either did its
steps or ended well by itself. All else is *inconclusive*, with a sentence that says why.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any

from loopgrad.confirm.observe import Observation, Request
from loopgrad.confirm.stores import Stores
from loopgrad.model import RAISING, Message

CONFIRMED, CLEAN, INCONCLUSIVE = "confirmed", "clean", "inconclusive"

Place = tuple[str, int]

#: What torch says in a plain RuntimeError, on the CPU and in older versions on the GPU.
_NO_MEMORY = ("can't allocate memory", "not enough memory", "CUDA out of memory")

_KILL = int(getattr(signal, "SIGKILL", 9))


@dataclass
class Verdict:
    verdict: str
    reason: Message
    outcome: str | None = None
    iteration: int | None = None
    loop: Place | None = None
    #: All loops around the fault, outermost first, with their iterations.
    loops: list[tuple[str, int, int]] = field(default_factory=list)
    raised_at: Place | None = None
    freed_at: Place | None = None
    built_at: Place | None = None
    #: The calls that led there, the innermost first; see ``confirm/details.py``.
    built_through: list[Place] = field(default_factory=list)
    carriers: list[tuple[str, Place | None]] = field(default_factory=list)
    device: str | None = None
    redirected: bool = False
    shape_only: bool = False
    steps: int = 0
    graph_nodes: list[int] = field(default_factory=list)
    seconds: float = 0.0
    first_write: tuple[str, Place | None] | None = None
    #: The run did what it was to do: findings can be refuted by it.
    complete: bool = False
    files: list[str] = field(default_factory=list)
    parameters: list[dict[str, Any]] = field(default_factory=list)
    losses: list[str | None] = field(default_factory=list)
    untrained: list[str] = field(default_factory=list)
    #: The statements that ran, the last first, and how many iterations each loop had at most.
    ran: list[Place] = field(default_factory=list)
    limit: int = 0
    torch: str | None = None
    python_version: str | None = None
    #: The interpreter, where it has no usable torch.
    torch_missing: str | None = None
    interpreter: str = ""
    warm: bool = False


def judge(observations: list[Observation], request: Request) -> Verdict:
    """The verdict of a run; of several ranks, the first that confirms something."""
    verdicts = [_judge(observation, request) for observation in observations]
    for kind in (CONFIRMED, INCONCLUSIVE):
        for verdict in verdicts:
            if verdict.verdict == kind:
                return verdict
    return verdicts[0]


def _judge(seen: Observation, request: Request) -> Verdict:
    verdict = Verdict(INCONCLUSIVE, Message.of("confirm.reason.unknown"))
    _common(verdict, seen, request)
    end = seen.last("end") or {}
    stores = Stores(verdict.files, dict(request.replaced))
    fault = _raising(seen, end) or next((f for f in seen.all("fault") if f["outcome"] == "silent"), None)
    guess = seen.last("guessed")
    if guess is not None:
        verdict.reason = Message.of("confirm.reason.guessed", place=_say(_place(guess["at"])))
    elif fault is not None:
        _take(verdict, fault, stores)
        verdict.reason = Message.of(f"confirm.reason.{fault['outcome']}")
    elif end.get("growing"):
        # the loop that kept most; of several runs of one loop, the last
        grown = max(end["growing"], key=lambda item: max(item["generations"]))
        _take(
            verdict,
            {**grown, "outcome": "grows", "ran": end.get("ran", ()), "within": grown["loop"], "loop": None},
            stores,
        )
        verdict.reason = Message.of("confirm.reason.grows", generations=max(grown["generations"]))
    elif end.get("untrained") and _ended_well(seen, end):
        verdict.verdict, verdict.outcome = CONFIRMED, "not-trained"
        verdict.reason = Message.of("confirm.reason.not-trained", names=tuple(end["untrained"][:6]))
    else:
        problem = _problem(seen, end, request)
        verdict.complete = problem is None
        verdict.verdict = CLEAN if problem is None else INCONCLUSIVE
        verdict.reason = problem or Message.of(
            "confirm.reason.clean-steps" if end["how"] == "steps" else "confirm.reason.clean-ended"
        )
    return verdict


def _common(verdict: Verdict, seen: Observation, request: Request) -> None:
    device = seen.last("device")
    verdict.device = device["device"] if device else None
    verdict.redirected = bool(seen.all("redirected"))
    verdict.shape_only = request.shape_only
    steps = seen.all("step")
    verdict.steps = max([step["step"] for step in steps], default=0)
    verdict.graph_nodes = [step["nodes"] for step in steps]
    verdict.seconds = round(seen.seconds, 2)
    write = seen.last("write")
    if write:
        verdict.first_write = (write["path"], _place(write["at"]))
    verdict.files = list(dict.fromkeys(event["path"] for event in seen.all("file")))
    verdict.losses = [event["loss"] for event in seen.all("pass")]
    end = seen.last("end") or {}
    verdict.parameters = end.get("parameters", [])
    verdict.untrained = end.get("untrained", [])
    verdict.ran = [(path, line) for path, line in end.get("ran", ())]
    verdict.limit = request.steps
    verdict.warm = seen.warm
    start = seen.last("start") or {}
    verdict.torch, verdict.python_version = start.get("torch"), start.get("version")
    no_torch = seen.last("no-torch")
    verdict.interpreter = start.get("python") or request.python
    verdict.torch_missing = no_torch["python"] if no_torch else None
    if not verdict.steps:
        verdict.steps = end.get("evaluated", 0)


def _raising(seen: Observation, end: dict[str, Any]) -> dict[str, Any] | None:
    """The fault that ended the run. One that was caught, and after which training went on, is none."""
    for position in range(len(seen.events) - 1, -1, -1):
        event = seen.events[position]
        if event["event"] == "fault" and event["outcome"] in RAISING:
            if end.get("outcome") == event["outcome"]:
                return event
            went_on = any(later["event"] == "pass" for later in seen.events[position + 1 :])
            return None if went_on or end.get("status") == 0 else event
    return None


def _take(verdict: Verdict, fault: dict[str, Any], stores: Stores) -> None:
    verdict.verdict = CONFIRMED
    verdict.outcome = fault["outcome"]
    verdict.iteration = fault.get("iteration")
    verdict.loop = _place(fault.get("loop"))
    verdict.loops = [tuple(loop) for loop in fault.get("loops", ())]
    verdict.raised_at = _place(fault.get("raised_at")) if fault["outcome"] in RAISING else None
    verdict.freed_at = _place(fault.get("freed_at"))
    verdict.built_at = _place(fault.get("built_at"))
    verdict.built_through = [(path, line) for path, line in fault.get("built_through", ())]
    ran = [(path, line) for path, line in fault.get("ran", ())]
    near = [
        verdict.raised_at,
        _place(fault.get("within")),
        *((path, line) for path, line, _ in verdict.loops),
    ]
    verdict.carriers = [(name, stores.find(name, ran, near)) for name in fault.get("carriers", ())]


def _place(value: Any) -> Place | None:
    return (value[0], value[1]) if value else None


def _ended_well(seen: Observation, end: dict[str, Any]) -> bool:
    return (
        seen.ended_by is None
        and end.get("how") in ("return", "exit", "steps", "os._exit")
        and not end["status"]
    )


def _problem(seen: Observation, end: dict[str, Any], request: Request) -> Message | None:
    """Why the run says nothing, or None if it did what it was to do."""
    no_torch, start = seen.last("no-torch"), seen.last("start")
    if seen.problem is not None:
        return Message.of("confirm.reason.no-python", python=request.python, error=seen.problem)
    if no_torch is not None:
        return Message.of("confirm.reason.no-torch", python=no_torch["python"], error=no_torch["error"])
    where = _where(seen)
    if end.get("how") == "no-device":
        return Message.of("confirm.reason.no-device", device=request.device)
    if seen.ended_by == "timeout" or end.get("how") == "time":
        return Message.of("confirm.reason.timeout", seconds=f"{request.timeout:g}", where=where)
    if seen.ended_by is not None:
        return Message.of(f"confirm.reason.{seen.ended_by}", where=where)
    if not end:
        return _without_word(seen, start is not None, where)
    if end.get("how") == "exception":
        return _exception(end, request, where)
    if end["status"]:
        return Message.of("confirm.reason.status", status=end["status"], where=where)
    if not end["passes"] and end.get("evaluated", 0) < 2:
        return Message.of("confirm.reason.no-backward")
    return None


def _where(seen: Observation) -> Message:
    steps = len(seen.all("step"))
    if seen.all("pass"):
        return Message.of("confirm.where.step", step=max(1, steps))
    return Message.of("confirm.where.before")


def _without_word(seen: Observation, started: bool, where: Message) -> Message:
    status = seen.status or 0
    if status == -_KILL:
        return Message.of("confirm.reason.killed", where=where)
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = str(-status)
        return Message.of("confirm.reason.signal", signal=name, where=where)
    shown = status if status < 0x80000000 else f"0x{status:08X}"  # an exception's code on Windows
    if not started:
        return Message.of("confirm.reason.no-start", status=shown)
    return Message.of("confirm.reason.vanished", status=shown, where=where)


def _exception(end: dict[str, Any], request: Request, where: Message) -> Message:
    kind, text = end["type"], str(end["message"]).strip().partition("\n")[0][:300]
    place = _say(_place(end.get("at")))
    if kind == "ModuleNotFoundError":
        return Message.of("confirm.reason.module", text=text, python=request.python)
    if kind == "FileNotFoundError":
        return Message.of("confirm.reason.file", text=text, place=place)
    if kind == "EOFError":
        return Message.of("confirm.reason.input", place=place, where=where)
    if kind == "KeyboardInterrupt":
        return Message.of("confirm.reason.interrupted", where=where)
    if kind in ("MemoryError", "OutOfMemoryError") or any(words in text for words in _NO_MEMORY):
        return Message.of("confirm.reason.memory", place=place, where=where)
    return Message.of("confirm.reason.exception", type=kind, text=text, place=place, where=where)


def _say(place: Place | None) -> str:
    return f"{place[0]}:{place[1]}" if place else "?"

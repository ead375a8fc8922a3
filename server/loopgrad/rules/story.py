"""From an observation to a finding: its severity, its trace and its place, the same for all rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loopgrad.analysis.observation import Observation, Step
from loopgrad.analysis.verdicts import Verdict
from loopgrad.analysis.where import Site
from loopgrad.messages.rules_en import MESSAGES
from loopgrad.model import Finding, FixRequest, Later, Message, Range, TraceStep, WitnessStep

from .catalogue import RULES
from .context import Context
from .words import change, quotable


def finding(
    code: str,
    verdict: Verdict,
    context: Context,
    message: Message,
    *,
    requests: Callable[[], Sequence[FixRequest]] | None = None,
    at: Range | None = None,
    carriers: Sequence[str] | None = None,
    trace: Sequence[TraceStep] | None = None,
) -> Finding:
    """A finding of a rule. ``at`` is its range where that is not the observation's own site.

    ``requests`` makes what could mend it; it is called when somebody asks.
    """
    seen = verdict.observation
    rule = RULES[code]
    path = context.path(seen.site)
    said = tuple(trace) if trace is not None else trace_of(seen, context)
    if carriers is None:
        carriers = [carrier.text for carrier in seen.carriers]
    quiet = seen.outcome in ("grows", "none")
    found = Finding(
        code,
        rule.name,
        rule.certain if verdict.certain else rule.possible,
        "certain" if verdict.certain else "possible",
        seen.outcome,
        message,
        path,
        at or context.range(seen.site),
        iteration=None if quiet or seen.loop is None else seen.iteration,
        loop_line=None if quiet or seen.iteration is None or seen.loop is None else seen.loop.line,
        carriers=tuple(dict.fromkeys(carriers)),
        trace=said,
        requests=Later(requests) if requests is not None else (),
        witness=witness(seen, context) if verdict.certain else (),
        raised_at=None if seen.raised is None else (context.path(seen.raised), context.range(seen.raised)),
    )
    return placed(found, seen, context)


def witness(seen: Observation, context: Context) -> tuple[WitnessStep, ...]:
    return tuple(
        WitnessStep(kind, context.path(site), context.node_range(context.path(site), site.node), value)
        for kind, site, value in seen.witness
    )


def placed(found: Finding, seen: Observation, context: Context) -> Finding:
    """The finding in a file that is checked: its own, or where the checked file leads there."""
    if context.is_reported(found.path):
        return found
    site = _way_there(seen, context)
    found.path = context.source.path
    found.range = context.range(site) if site is not None else Range(1, 1, 1, 1)
    return found


def _way_there(seen: Observation, context: Context) -> Site | None:
    """A place of the story in the checked file: the call that leads to the finding, else what raises."""
    sites = [step.site for step in seen.steps if step.role in ("carried", "stored", "built")]
    if seen.raised is not None:
        sites.append(seen.raised)
    sites += [step.site for step in seen.steps]
    if seen.loop is not None:
        sites.append(seen.loop)
    return next((site for site in sites if context.path(site) == context.source.path), None)


def trace_of(seen: Observation, context: Context) -> tuple[TraceStep, ...]:
    return tuple(said(step, context) for step in seen.steps)


def said(step: Step, context: Context) -> TraceStep:
    """One moment of the story in words."""
    args = dict(step.args)
    if "what" in args and step.role == "modified":  # the engine's name of it, in words
        args["what"] = change(args["what"])
    if "name" in args:
        args["name"] = quotable(str(args["name"]))
    args.pop("op", None)
    key = f"trace.{step.key}"
    message = Message.of(key, **args) if key in MESSAGES else Message.of(f"trace.role.{step.role}")
    return TraceStep(step.role, context.path(step.site), context.range(step.site), step.iteration, message)


def moment(
    role: str, key: str, site: Site, context: Context, iteration: int | None = None, **args: object
) -> TraceStep:
    """A moment that a rule adds to the engine's story."""
    where = context.range(site)
    return TraceStep(role, context.path(site), where, iteration, Message.of(f"trace.{key}", **args))

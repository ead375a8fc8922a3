"""What ``confirm`` prints: a few lines for people, one object for programs."""

from __future__ import annotations

import os
from typing import Any

from loopgrad.confirm.proof import Proof
from loopgrad.confirm.static import Static
from loopgrad.confirm.verdict import CLEAN, CONFIRMED, Verdict
from loopgrad.messages import render
from loopgrad.model import Message
from loopgrad.report.style import Style

VERSION = 1


class Paths:
    """Paths as the user would write them: the script as given, others from the working folder."""

    def __init__(self, cwd: str, given: str) -> None:
        self._cwd = os.path.realpath(cwd)
        self._known = {os.path.realpath(os.path.join(cwd, given)): given}

    def __call__(self, path: str) -> str:
        real = os.path.realpath(path)
        if real in self._known:
            return self._known[real]
        return os.path.relpath(real, self._cwd) if real.startswith(self._cwd + os.sep) else path


def as_object(
    verdict: Verdict, statics: list[Static], proof: Proof | None, paths: Paths, language: str
) -> dict[str, Any]:
    document: dict[str, Any] = {"version": VERSION, **_verdict(verdict, paths, language)}
    document["findings"] = [
        {**item.data, "status": item.status, **({} if item.report is None else {"report": item.report})}
        for item in statics
    ]
    if proof is not None:
        document["fixed"] = {
            **_verdict(proof.verdict, paths, language),
            "still_trained": proof.still_trained,
            "no_longer_trained": proof.no_longer_trained,
            "first_loss_equal": proof.first_loss_equal,
            "first_loss_tolerance": proof.tolerance,
            "proven": proof.proven,
        }
    return document


def _verdict(verdict: Verdict, paths: Paths, language: str) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict,
        "outcome": verdict.outcome,
        "iteration": verdict.iteration,
        "loop_line": verdict.loop[1] if verdict.loop else None,
        "loops": [{"path": paths(path), "line": line, "iteration": n} for path, line, n in verdict.loops],
        "raised_at": _place(verdict.raised_at, paths),
        "freed_at": _place(verdict.freed_at, paths),
        "built_at": _place(verdict.built_at, paths),
        "built_through": [_place(at, paths) for at in verdict.built_through],
        "carriers": [{"name": name, "stored_at": _place(at, paths)} for name, at in verdict.carriers],
        "device": verdict.device,
        "redirected": verdict.redirected,
        "shape_only": verdict.shape_only,
        "steps": verdict.steps,
        "graph_nodes": verdict.graph_nodes,
        "seconds": verdict.seconds,
        "reason": render(_with_paths(verdict.reason, paths), language),
        "warm": verdict.warm,
        "torch": verdict.torch,
        "torch_missing": verdict.torch_missing is not None,
        "interpreter": verdict.torch_missing or verdict.interpreter,
        "first_write": None
        if verdict.first_write is None
        else {"path": paths(verdict.first_write[0]), "at": _place(verdict.first_write[1], paths)},
    }


def _place(place: tuple[str, int] | None, paths: Paths) -> dict[str, Any] | None:
    return None if place is None else {"path": paths(place[0]), "line": place[1]}


def _with_paths(message: Message, paths: Paths) -> Message:
    """Places within a message, said as the user would."""
    args = {}
    for name, value in message.args:
        if name == "place" and isinstance(value, str) and ":" in value:
            path, _, line = value.rpartition(":")
            value = f"{paths(path)}:{line}"
        args[name] = value
    return Message.of(message.key, **args)


def as_text(
    verdict: Verdict, statics: list[Static], proof: Proof | None, paths: Paths, language: str, style: Style
) -> str:
    def say(key: str, **args: Any) -> str:
        return render(Message.of(key, **args), language)

    def place(at: tuple[str, int] | None) -> str:
        return "?" if at is None else f"{paths(at[0])}:{at[1]}"

    lines = [_headline(verdict, paths, language, style)]
    for role, at in (("raised", verdict.raised_at), ("freed", verdict.freed_at), ("built", verdict.built_at)):
        if at is not None:
            lines.append("  " + say(f"confirm.text.{role}", place=place(at)))
    for at in verdict.built_through:
        lines.append("    " + say("confirm.text.through", place=place(at)))
    for name, at in verdict.carriers:
        key = "confirm.text.carrier" if at else "confirm.text.carrier-only"
        lines.append("  " + say(key, name=name, place=place(at)))
    if verdict.graph_nodes:
        shown = [str(nodes) if nodes >= 0 else "-" for nodes in verdict.graph_nodes[:16]]
        lines.append("  " + say("confirm.text.nodes", nodes=tuple(shown)))
    if verdict.redirected:
        lines.append("  " + say("confirm.text.redirected"))
    if verdict.shape_only:
        lines.append("  " + say("confirm.text.shape-only"))
    if verdict.first_write is not None:
        written, at = verdict.first_write
        lines.append("  " + say("confirm.text.write", path=paths(written), place=place(at)))
    for item in statics:
        status = say(f"confirm.status.{item.status.replace(' ', '-')}")
        lines.append(
            "  " + say("confirm.text.finding", code=item.data["code"], place=item.place, status=status)
        )
    if proof is not None:
        lines.append("")
        lines.append(say("confirm.text.fixed-proven" if proof.proven else "confirm.text.fixed-unproven"))
        lines.append("  " + _headline(proof.verdict, paths, language, style))
        if proof.no_longer_trained:
            lines.append("  " + say("confirm.text.no-longer", names=tuple(proof.no_longer_trained)))
        elif proof.still_trained:
            lines.append("  " + say("confirm.text.still", count=len(proof.still_trained)))
        if proof.first_loss_equal is not None:
            lines.append(
                "  " + say("confirm.text.loss-" + ("equal" if proof.first_loss_equal else "differs"))
            )
    return "\n".join(lines) + "\n"


def _headline(verdict: Verdict, paths: Paths, language: str, style: Style) -> str:
    kind = {CONFIRMED: "error", CLEAN: "fix"}.get(verdict.verdict, "warning")
    args: dict[str, Any] = {
        "verdict": style(kind, render(Message.of(f"confirm.verdict.{verdict.verdict}"), language)),
        "device": verdict.device or "-",
        "reason": _with_paths(verdict.reason, paths),
        "steps": verdict.steps,
        "seconds": f"{verdict.seconds:.1f}",
        "iteration": verdict.iteration,
    }
    key = "confirm.text.headline" if verdict.iteration is None else "confirm.text.headline-iteration"
    return render(Message.of(key, **args), language)

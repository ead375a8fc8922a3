"""Turns what single calls showed into profiles: one per function, with its special forms apart.

Facts of several samples of one function are united: ``raises`` that differs becomes ``"depends"``, what
any sample saves counts as saved. Calls with a Python number in a tensor's place, and calls that return
a tuple where others return a tensor, are different functions for autograd and get names of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_table_measure import DEPENDS, CaseFacts, Fact

Profile = dict[str, Any]


def forms(key: str, cases: list[CaseFacts]) -> dict[str, list[CaseFacts]]:
    """The cases of one key by form: ``key``, ``key#scalar``, ``key#tuple``, ``key#<mode>``."""
    if "#" in key:
        return {key: cases}
    tensors = {name for case in cases for name in case.args}
    found: dict[str, list[CaseFacts]] = {}
    for case in cases:
        suffix = "#tuple" if case.outputs is not None else "#scalar" if case.numbers & tensors else ""
        found.setdefault(key + suffix, []).append(case)
    if key not in found:
        # The plain name stands for the only form there is.
        form = next(iter(found)) if len(found) == 1 else f"{key}#scalar"
        found[key] = found.pop(form, []) or cases
    modes = sorted({case.mode for case in found[key] if case.mode is not None})
    if modes and not key.startswith(".__"):
        plain = found[key]
        for mode in modes:
            found[f"{key}#{mode}"] = [case for case in plain if case.mode == mode]
        # An unknown mode may be any, and the plain name is the call that gives none.
        found[f"{key}#any"] = plain
        found[key] = [case for case in plain if case.mode is None] or plain
    return found


def common(values: Iterable[bool | str]) -> bool | str:
    """The value that all have, or ``"depends"``."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else DEPENDS


def profile_of(cases: list[CaseFacts]) -> Profile:
    """One profile from all the cases of a function."""
    args = list(
        dict.fromkeys(name for case in sorted(cases, key=lambda c: -len(c.args)) for name in case.args)
    )
    args.sort(key=lambda name: ("params", "buffers").index(name) if name in ("params", "buffers") else -1)
    graphs = [any(fact.graph for fact in case.masks.values()) for case in cases]
    graph = common(graphs)
    profile: Profile = {
        "args": args,
        "graph": graph if graph == DEPENDS else "yes" if graph else "no",
        "outputs": None,
        "view": common(case.view for case in cases),
        "same": common(case.same for case in cases),
        "masks": {},
    }
    carrying = [
        case.outputs for case, carries in zip(cases, graphs, strict=True) if carries or graph is False
    ]
    several = [outputs for outputs in carrying if outputs is not None]
    if several:
        if len({len(outputs) for outputs in several}) == 1:
            profile["outputs"] = [any(flags) for flags in zip(*several, strict=True)]
        else:
            profile["outputs"], profile["many"] = [any(flag for flags in several for flag in flags)], True
    facts: dict[frozenset[str], list[Fact]] = {}
    for case in cases:
        for mask, fact in case.masks.items():
            facts.setdefault(mask, []).append(fact)
    count = 1 if profile["outputs"] is None or "many" in profile else len(profile["outputs"])
    for mask in sorted(facts, key=lambda m: (-len(m), [name not in m for name in args])):
        if graph is False:
            break
        bits = "".join("1" if name in mask else "0" for name in args)
        profile["masks"][bits] = mask_fact(facts[mask], args, count)
    return profile


def mask_fact(facts: list[Fact], args: list[str], count: int) -> dict[str, Any]:
    """What one combination showed over all the cases; what is not said is false or empty."""
    carrying = [fact for fact in facts if fact.graph]
    if not carrying:
        return {"graph": False, "raises": False}
    merged: dict[str, Any] = {"raises": common(fact.raises for fact in carrying)}
    saved = [i for i, name in enumerate(args) if any(name in fact.saved for fact in carrying)]
    results = sorted(set().union(*(fact.results for fact in carrying)))
    if saved:
        merged["saved"] = saved
    if results:
        merged["result"] = True
        if count > 1 and len(results) < count:
            merged["results"] = results
    return merged

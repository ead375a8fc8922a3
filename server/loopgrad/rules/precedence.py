"""One finding a cause: where several rules speak of the same thing, the one that matters most is kept.

An exception comes before growth, and growth before information. What ``retain_graph=True`` covers is told by
the rule of what it covers; a cut that has cost a loss its graph is told once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.verdicts import Verdict
from loopgrad.analysis.where import Site
from loopgrad.model import Finding

from .context import Context
from .syntax import names_read

Said = tuple[Finding, Verdict]

_EXCEPTIONS = frozenset({"LG101", "LG102", "LG103", "LG104"})
#: Rules whose finding explains growth of the same variable. Two backwards of one iteration explain none.
_EXPLAINING = _EXCEPTIONS - {"LG103"}
_GROWTH = frozenset({"LG201", "LG203"})
_CUT_EARLIER = frozenset({"LG301", "LG304"})


def settled(said: Iterable[Said], context: Context) -> list[Finding]:
    """The findings that stay."""
    several = list(said)
    kept = [
        each for each in several if not any(_yields(each, other) for other in several if other is not each)
    ]
    unique: dict[tuple[object, ...], Finding] = {}
    for found, _ in kept:
        known = unique.get(found.key)
        if known is None or (known.certainty, found.certainty) == ("possible", "certain"):
            unique[found.key] = found
    return list(unique.values())


def _yields(one: Said, other: Said) -> bool:
    """Whether ``one`` says nothing more beside ``other``."""
    found, verdict = one
    above, above_verdict = other
    if found.code in _GROWTH and above.code in _EXPLAINING:
        return _carries(above, above_verdict) and _shares_carrier(found, above)
    if found.code in _GROWTH and above.code in _GROWTH:
        return _follows_from(verdict, above_verdict)
    if found.code == "LG202":
        return above.code in _EXCEPTIONS | _GROWTH and _retains(above_verdict, verdict.observation.site)
    if found.code == "LG302" and above.code in _CUT_EARLIER:
        return True
    if found.code == "LG204":
        return above.code != "LG204" and _same_loop(verdict, above_verdict)
    if found.code == "LG401" and above.code == "LG304":
        return found.path == above.path and found.range.line == above.range.line
    return False


def _carries(found: Finding, verdict: Verdict) -> bool:
    """Whether what raises was taken along from an earlier iteration, or from before the loop.

    What is changed between its own forward and backward raises in each iteration by itself: that explains no growth.
    """
    facts = verdict.observation.facts
    return found.code != "LG104" or bool(facts.get("loop_run") or facts.get("outside"))


def _follows_from(verdict: Verdict, above: Verdict) -> bool:
    """Whether one thing grows because another does: ``loss``, computed from the ``position`` that grows.

    A name that each iteration binds anew before it reads it takes nothing into the next one: another does.
    """
    seen, other = verdict.observation, above.observation
    if not _same_loop(verdict, above):
        return False
    anew, other_anew = _bound_anew(seen), _bound_anew(other)
    if anew != other_anew:
        return anew
    return _reads(seen, other) and not _reads(other, seen)


def _bound_anew(seen: Observation) -> bool:
    """Whether all that carries is plain names that the loop binds before it reads them, as its target or in its body."""
    loop = getattr(seen.facts.get("loop_site"), "node", None)
    body: list[ast.stmt] = getattr(loop, "body", [])
    return bool(seen.carriers) and all(
        carrier.site.stmt is loop or _binds_first(body, carrier.text) for carrier in seen.carriers
    )


def _binds_first(body: list[ast.stmt], name: str) -> bool:
    for statement in body:
        mentions = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
        if mentions:
            plain = isinstance(statement, (ast.Assign, ast.AnnAssign))
            return plain and all(isinstance(each.ctx, ast.Store) for each in mentions)
    return False


def _same_loop(verdict: Verdict, above: Verdict) -> bool:
    one, other = (
        seen.facts.get("loop_site") or seen.loop for seen in (verdict.observation, above.observation)
    )
    return isinstance(one, Site) and isinstance(other, Site) and one.key == other.key


def _reads(seen: Observation, other: Observation) -> bool:
    """Whether the statement that stores one thing reads the other."""
    value = getattr(seen.site.stmt, "value", None)
    wanted = {carrier.text for carrier in other.carriers}
    own = {carrier.text for carrier in seen.carriers}
    return isinstance(value, ast.AST) and not wanted & own and bool(wanted & names_read(value))


def _shares_carrier(found: Finding, above: Finding) -> bool:
    if found.path == above.path and found.range.line == above.range.line:
        return True
    if above.code == "LG102":
        return False  # what is built once is one graph, whatever its name goes on to hold
    return bool(
        {name.split("[")[0] for name in found.carriers} & {name.split("[")[0] for name in above.carriers}
    )


def _retains(verdict: Verdict, site: Site) -> bool:
    """Whether a finding's story has this backward's ``retain_graph`` in it."""
    seen = verdict.observation
    places = [seen.facts.get("retained"), seen.facts.get("freed"), seen.raised]
    places += [step.site for step in seen.steps if step.role in ("retained", "freed", "reached")]
    return any(isinstance(place, Site) and place.key == site.key for place in places)

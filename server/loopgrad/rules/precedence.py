"""One finding a cause: where several rules speak of the same thing, the one that matters most is kept.

An exception comes before growth, and growth before information. What ``retain_graph=True`` covers is told by
the rule of what it covers; a cut that has cost a loss its graph is told once.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopgrad.analysis.explore import Verdict
from loopgrad.analysis.where import Site
from loopgrad.model import Finding

from .context import Context

Said = tuple[Finding, Verdict]

#: Rules whose finding explains growth of the same variable.
_EXCEPTIONS = frozenset({"LG101", "LG102", "LG103", "LG104"})
_GROWTH = frozenset({"LG201", "LG203"})
_CUT_EARLIER = frozenset({"LG301", "LG304"})


def settled(said: Iterable[Said], context: Context) -> list[Finding]:
    """The findings that stay."""
    several = list(said)
    kept = [each for each in several if not any(_yields(each, other) for other in several if other is not each)]
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
    if found.code in _GROWTH and above.code in _EXCEPTIONS:
        return _shares_carrier(found, above)
    if found.code == "LG202" and verdict.observation.facts.get("hides"):
        return above.code in _EXCEPTIONS | _GROWTH and _retains(above_verdict, verdict.observation.site)
    if found.code == "LG302" and above.code in _CUT_EARLIER:
        return True
    if found.code == "LG401" and above.code == "LG304":
        return found.path == above.path and found.range.line == above.range.line
    return False


def _shares_carrier(found: Finding, above: Finding) -> bool:
    if found.path == above.path and found.range.line == above.range.line:
        return True
    return bool({name.split("[")[0] for name in found.carriers} & {name.split("[")[0] for name in above.carriers})


def _retains(verdict: Verdict, site: Site) -> bool:
    """Whether a finding's story has this backward's ``retain_graph`` in it."""
    seen = verdict.observation
    places = [seen.facts.get("retained"), seen.facts.get("freed"), seen.raised]
    places += [step.site for step in seen.steps if step.role in ("retained", "freed", "reached")]
    return any(isinstance(place, Site) and place.key == site.key for place in places)

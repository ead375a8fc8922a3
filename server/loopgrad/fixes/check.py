"""Checks what a rule asks for before it is offered: apply it in memory, analyse again, compare.

A fix is offered only if its finding is gone and nothing new came (see ``compare.judge``). What was trained
has to stay trained; a fix that stops something's training is still offered, but says so in its title and is
never the preferred one. The last offer is always the comment that silences the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from loopgrad.model import Edit, FileResult, Finding, Fix, FixRequest, Message, Step
from loopgrad.source import Provider, SourceFile

from .compare import Change, Verdict, judge
from .edits import edits_of
from .text import EditError, apply

#: At most so many candidates of a finding are tried, and no more once so many were accepted.
CANDIDATES = 8
ENOUGH = 3

#: The engine: a file's findings, given the codes of the rules to run. Tests put a small one in its place.
Engine = Callable[[SourceFile, Provider, frozenset[str]], FileResult]


def analyse(source: SourceFile, provider: Provider, select: frozenset[str]) -> FileResult:
    from loopgrad import rules

    result: FileResult = rules.check(source, provider, select=select)
    return result


def codes_to_check(*codes: str) -> frozenset[str]:
    """Every rule that is on by default, and these: a fix must not trade one fault for another."""
    from loopgrad.rules.catalogue import RULES

    return frozenset(code for code, rule in RULES.items() if rule.default_on).union(codes)


@dataclass(frozen=True)
class Trial:
    """A candidate that was applied and analysed, with the files as they are then."""

    request: FixRequest
    edits: tuple[Edit, ...]
    sources: dict[str, SourceFile]
    provider: Provider
    result: FileResult
    verdict: Verdict

    @property
    def may_be_preferred(self) -> bool:
        return self.request.preferable and not self.verdict.lost


def offer(
    finding: Finding,
    source: SourceFile,
    provider: Provider,
    *,
    baseline: FileResult | None = None,
    select: frozenset[str] | None = None,
    engine: Engine = analyse,
) -> tuple[Fix, ...]:
    """The fixes of a finding in ``source``, checked, the preferred one first and the silencing comment last.

    ``baseline`` is the analysis that gave the finding, made with the rules ``select``: with it one analysis
    is saved. (It does not serve where rules that are on by default were left out.)
    """
    codes = codes_to_check(finding.code)
    if baseline is None or select is None or not codes <= select:
        codes = codes | (select or frozenset())
        baseline = engine(source, provider, codes) if finding.requests else FileResult(source.path)
    else:
        codes = select
    accepted: list[Trial] = []
    for trial in trials(finding, source, provider, baseline, codes, engine):
        accepted.append(trial)
        if sum(not each.verdict.lost for each in accepted) >= ENOUGH:
            break
    best = preferred(accepted)
    ordered = sorted(accepted, key=lambda trial: (trial is not best, bool(trial.verdict.lost)))
    fixes = [_fix(trial, trial is best) for trial in ordered]
    silence = silencing(finding, source, provider)
    return (*fixes, silence) if silence else tuple(fixes)


def preferred(accepted: list[Trial]) -> Trial | None:
    """The first that leaves nothing behind, else the first that leaves only what was hidden before."""
    able = [trial for trial in accepted if trial.may_be_preferred]
    clean = [trial for trial in able if not trial.verdict.beyond]
    return next(iter(clean or able), None)


def trials(
    finding: Finding,
    source: SourceFile,
    provider: Provider,
    baseline: FileResult,
    codes: frozenset[str],
    engine: Engine,
) -> Iterator[Trial]:
    """The candidates that hold, best first, each analysed as it is asked for."""
    seen: list[dict[str, str]] = []
    for request in finding.requests[:CANDIDATES]:
        try:
            edits = edits_of(request.steps, lambda path: _source(path, source, provider).text)
            sources = _edited(edits, source, provider)
        except EditError:
            continue
        texts = {path: changed.text for path, changed in sources.items()}
        if texts in seen:
            continue
        seen.append(texts)
        over = provider
        for changed in sources.values():
            over = over.with_source(changed)
        result = visible(engine(sources.get(source.path, source), over, codes), over, sources)
        changes = {
            path: Change.of(_source(path, source, provider).text, changed.text, _of(path, edits))
            for path, changed in sources.items()
        }
        verdict = judge(finding, baseline, result, changes)
        if verdict.accepted:
            yield Trial(request, edits, sources, over, result, verdict)


def visible(result: FileResult, provider: Provider, sources: dict[str, SourceFile]) -> FileResult:
    """The result without the findings that a comment silences."""
    findings = []
    for finding in result.findings:
        file = sources.get(finding.path) or provider.read(finding.path)
        if file is None or file.suppressions.find(finding) is None:
            findings.append(finding)
    return replace(result, findings=findings)


def silencing(finding: Finding, source: SourceFile, provider: Provider) -> Fix | None:
    """The fix that puts ``# loopgrad: ignore[CODE]`` on the line; it is checked for syntax alone."""
    step = Step("suppress", finding.path, finding.range, finding.code)
    try:
        edits = edits_of((step,), lambda path: _source(path, source, provider).text)
    except EditError:
        return None
    title = Message.of("fix.suppress", code=finding.code, line=finding.range.line)
    return Fix(title, "suppress", False, (), edits)


def _fix(trial: Trial, is_preferred: bool) -> Fix:
    title, lost = trial.request.title, trial.verdict.lost
    if lost:
        title = Message.of("fix.stops-training", title=title, names=lost)
    return Fix(title, trial.request.kind, is_preferred, lost, trial.edits)


def _of(path: str, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    return tuple(edit for edit in edits if edit.path == path)


def _source(path: str, source: SourceFile, provider: Provider) -> SourceFile:
    found = source if path == source.path else provider.read(path)
    if found is None:
        raise EditError(f"{path} is out of reach")
    return found


def _edited(edits: tuple[Edit, ...], source: SourceFile, provider: Provider) -> dict[str, SourceFile]:
    sources = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        before = _source(path, source, provider)
        sources[path] = before.with_text(apply(before.text, _of(path, edits)))
    return sources

"""`python -m tests.oracle`: generate, run, compare, shrink."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import grammar, report, second
from .grammar import Program
from .pool import Pool
from .shrink import shrink

Generate = Callable[[int, int], Program]
GENERATORS: dict[str, Generate] = {"first": grammar.generate, "second": second.generate}


def _labels(verdict: dict[str, Any]) -> set[str]:
    return {f"{kind}: {about}" for kind, about, _ in verdict["disagreements"]}


def _judge_all(pool: Pool, sources: list[str]) -> list[dict[str, Any]]:
    verdicts = dict(pool.judge(sources))
    return [verdicts[number] for number in range(len(sources))]


def judge_programs(
    pool: Pool, seed: int, count: int, start: int = 0, generate: Generate = grammar.generate
) -> tuple[report.Tally, float]:
    """Generate and judge programs `start` to `start + count` of a seed."""
    programs: dict[int, Program] = {}

    def sources() -> Any:
        for number in range(count):
            programs[number] = generate(seed, start + number)
            yield programs[number].source

    tally = report.Tally()
    began = time.monotonic()
    for number, verdict in pool.judge(sources()):
        tally.add(start + number, programs.pop(number), verdict)
        if verdict["report"] is None:
            tally.broken(start + number, verdict)
    return tally, time.monotonic() - began


def _write_examples(
    pool: Pool, tally: report.Tally, seed: int, folder: Path, each: int, budget: int, generate: Generate
) -> None:
    """Shrink some programs of each disagreement and write them, with what was claimed and seen."""
    folder.mkdir(parents=True, exist_ok=True)
    for label, examples in tally.examples.items():
        for index, detail in examples[:each]:
            small = shrink(
                generate(seed, index).source,
                label,
                lambda sources: [_labels(v) for v in _judge_all(pool, sources)],
                budget,
            )
            verdict = _judge_all(pool, [small])[0]
            name = re.sub(r"[^\w-]+", "_", label).strip("_")
            details = [text for kind, about, text in verdict["disagreements"] if f"{kind}: {about}" == label]
            notes = [
                f"# {label}",
                f"# seed {seed}, program {index}: {detail}",
                *(f"# now: {text}" for text in details),
            ]
            (folder / f"{name}-{index}.py").write_text(small + "\n" + "\n".join(notes) + "\n")
    print(f"shrunk programs: {folder}")


def _replay(pool: Pool, path: Path) -> int:
    """Judge a file and print everything about it."""
    verdict = _judge_all(pool, [path.read_text()])[0]
    for run in verdict["runs"]:
        print(json.dumps({key: value for key, value in run.items() if value not in (None, [], {}, "")}))
    if verdict["report"] is not None:
        for finding in verdict["report"]["findings"]:
            print(json.dumps(finding))
        print("partial:", verdict["report"].get("partial"))
    for kind, about, detail in verdict["disagreements"]:
        print(f"{kind}: {about}: {detail}")
    return 1 if verdict["disagreements"] else 0


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generator", choices=sorted(GENERATORS), default="first")
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="folder for shrunk programs (default: a temporary one)")
    parser.add_argument("--examples", type=int, default=2, help="how many of each disagreement are shrunk")
    parser.add_argument("--budget", type=int, default=300, help="candidates tried for each shrunk program")
    parser.add_argument("--no-analyser", action="store_true", help="only generate and run")
    parser.add_argument("--show", metavar="SEED:INDEX", help="print one program")
    parser.add_argument("--replay", type=Path, help="judge one file")
    options = parser.parse_args(arguments)
    generate = GENERATORS[options.generator]
    if options.show:
        seed, index = options.show.split(":")
        program = generate(int(seed), int(index))
        print(program.source, end="")
        return 0
    with Pool(options.workers, ask=not options.no_analyser) as pool:
        if options.replay:
            return _replay(pool, options.replay)
        tally, seconds = judge_programs(pool, options.seed, options.programs, options.start, generate)
        print(report.describe(tally, options.seed, seconds, pool.ask), flush=True)
        if tally.examples and options.examples:
            folder = options.out or Path(tempfile.mkdtemp(prefix="oracle-"))
            _write_examples(pool, tally, options.seed, folder, options.examples, options.budget, generate)
    return 1 if tally.kinds["wrong certain"] or tally.kinds["false alarm"] or tally.kinds["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())

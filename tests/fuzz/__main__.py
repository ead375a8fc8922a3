"""`python -m tests.fuzz`: check mutated sources; the exit status is 1 if one failed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .campaign import mutated, run, write_examples
from .corpus import Corpus
from .worker import Pool


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="further folders of sources to mutate")
    parser.add_argument("--sources", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first source")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for the sources that failed, made small")
    parser.add_argument("--show", type=int, metavar="INDEX", help="print one source")
    options = parser.parse_args(arguments)
    corpus = Corpus(options.folders)
    if options.show is not None:
        sys.stdout.buffer.write(mutated(corpus, options.seed, options.show)[1])
        return 0
    with Pool(options.workers) as pool:
        tally = run(corpus, pool, options.seed, options.sources, options.start)
        print(f"seed {options.seed}: {tally.describe()}", flush=True)
        if options.out and tally.failures:
            write_examples(corpus, pool, tally, options.seed, options.out)
            print(f"sources that failed: {options.out}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())

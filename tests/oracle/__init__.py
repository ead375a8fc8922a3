"""A judge independent of the analyser: random programs, run in PyTorch, compared with what is claimed.

The package knows nothing about how Loopgrad works inside. It has four parts:

* `grammar` writes random small training programs from a seed;
* `observe` and `runner` run them in PyTorch and record what really happens;
* `adapter` asks the analyser, `compare` sets the claims against the observations;
* `shrink` makes a disagreement small, `report` prints what was seen.

`python -m tests.oracle --programs 500 --seed 1` runs all of them.
"""

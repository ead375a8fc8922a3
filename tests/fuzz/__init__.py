"""Fuzzing the checker: mutated sources that nobody would write must cost findings at most.

* `corpus` gathers real sources: the standard library, the scripts of `tests/cases` and `examples`, other folders;
* `text_mutations` breaks them as bytes, `tree_mutations` changes them into other valid programs;
* `worker` checks each in a process with limits of memory and time, so that a crash or a hang loses no other;
* `reduce` makes a failing source small, `campaign` runs all of it and counts.

`python -m tests.fuzz --sources 20000 --seed 1` is a run of nightly size.
"""

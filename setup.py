"""Builds Loopgrad; with LOOPGRAD_COMPILE=1 in the environment, mypyc compiles the engine.

A compiled engine says the same in about 60 % of the time. It needs a C compiler and some minutes, so that it is asked
for: ``LOOPGRAD_COMPILE=1 pip install .``. Without, the package is plain Python.
"""

import os
from pathlib import Path

from setuptools import setup

ENGINE = "server/loopgrad/analysis"
#: The parts that are executed for each statement of the analysed program.
COMPILED = ("", "lower", "semantics", "torch_model")
#: Classes that mypyc does not compile: subclasses of Python's own containers; one whose attributes are modules.
LEFT = {"__init__", "collected", "shared", "undo"}


def engine() -> list[str]:
    """The files that are compiled."""
    found = [path for part in COMPILED for path in sorted(Path(ENGINE, part).glob("*.py"))]
    return [path.as_posix() for path in found if path.stem not in LEFT]


def extensions() -> list:
    if os.environ.get("LOOPGRAD_COMPILE", "0") in ("", "0"):
        return []
    from mypyc.build import mypycify

    return mypycify(engine(), opt_level="2", debug_level="0")


setup(ext_modules=extensions())

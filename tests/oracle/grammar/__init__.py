"""The grammar of random training programs; `program.generate(seed, index)` is the way in."""

from .program import generate
from .tree import Program

__all__ = ["Program", "generate"]

"""A grammar of small programs of plain Python whose printed values are all computed constants."""

from .program import generate

__all__ = ["generate"]

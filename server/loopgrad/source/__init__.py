"""Source files: reading them exactly, parsing them once, finding the ones they import.

``SourceFile`` is one file, ``Provider`` is where the analysis gets files from, ``SourceError`` is the one
exception, and ``discover`` turns the paths of a command line into files.
"""

from loopgrad.source.discover import STDIN, Input, discover
from loopgrad.source.errors import SourceError
from loopgrad.source.file import SourceFile
from loopgrad.source.provider import FileProvider, Provider
from loopgrad.source.suppress import Ignore, Suppressions

__all__ = [
    "STDIN",
    "FileProvider",
    "Ignore",
    "Input",
    "Provider",
    "SourceError",
    "SourceFile",
    "Suppressions",
    "discover",
]

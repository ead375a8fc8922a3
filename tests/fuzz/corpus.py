"""The sources that are mutated."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRAINING = (ROOT / "tests" / "cases", ROOT / "examples")
#: Windows are at most this long, so that thousands of sources are checked in minutes.
LINES = 120


class Corpus:
    """Files to draw from: training scripts as often as all else, whatever their number."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        library = Path(sysconfig.get_paths()["stdlib"])
        self.groups = [
            [path for folder in TRAINING for path in sorted(folder.rglob("*.py"))],
            [path for path in sorted(library.rglob("*.py")) if _wanted(path.relative_to(library))],
            *(sorted(folder.rglob("*.py")) for folder in folders),
        ]
        self.groups = [group for group in self.groups if group]

    def draw(self, rng: random.Random) -> bytes:
        """A source, or a window of a long one that begins at a statement of the module."""
        path = rng.choice(rng.choice([self.groups[0], *self.groups]))
        lines = path.read_bytes().splitlines(keepends=True)
        if len(lines) <= LINES or rng.random() < 0.02:
            return b"".join(lines)
        starts = [n for n, line in enumerate(lines) if line[:1].isalpha() or line[:1] == b"@"] or [0]
        first = rng.choice(starts)
        end = min((n for n in starts if n - first > LINES // 2), default=len(lines))
        return b"".join(lines[first : min(end, first + 2 * LINES)])


def _wanted(path: Path) -> bool:
    return "site-packages" not in path.parts and "__pycache__" not in path.parts

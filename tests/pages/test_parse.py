"""The reader of pages itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from .parse import Mark, parse

PAGE = """# LG999: a-rule

## What it does

Words.

## Example

<!-- outcome: grows; steps: n -->
<!-- fix: detach -->
```py select: LG999
n = 4
total += loss  # warning: LG999 "total"
both()  # error: LG101 # information: LG202
```

```sh
not python  # error: LG101
```
"""


def test_page(tmp_path: Path) -> None:
    path = tmp_path / "LG999.md"
    path.write_text(PAGE)
    page = parse(path)
    assert (page.title, page.sections) == ("LG999: a-rule", ("What it does", "Example"))
    assert page.prose["What it does"] == "Words."
    (block,) = page.blocks
    assert block.options == {"outcome": "grows", "steps": "n", "fix": "detach", "select": "LG999"}
    assert PAGE.splitlines()[block.line - 1] == "n = 4"
    assert block.marks == (
        Mark(2, "warning", "LG999", "total"),
        Mark(3, "error", "LG101"),
        Mark(3, "information", "LG202"),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("steps: n", "stpes: n"),
        ("```sh", "<!-- outcome: clean -->\nwords\n```sh"),
        ("```\n\n```sh", "\n```sh"),
    ],
    ids=["unknown option", "options above no block", "fence never closed"],
)
def test_mistakes(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "LG999.md"
    path.write_text(PAGE.replace(old, new).rstrip("`\n") + "\n")
    with pytest.raises(ValueError, match=r"LG999\.md"):
        parse(path)

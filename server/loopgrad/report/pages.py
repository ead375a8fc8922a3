"""The rules' pages: reading them, and setting their Markdown lightly for a terminal."""

from __future__ import annotations

import re
from importlib import resources

from loopgrad.report.style import Style


def read_page(code: str, language: str) -> str | None:
    """A rule's page without its front matter, in English where there is no translation."""
    pages = resources.files("loopgrad.rules").joinpath("pages")
    for folder in dict.fromkeys((language, "en")):
        page = pages.joinpath(folder).joinpath(f"{code}.md")
        if page.is_file():
            return without_front_matter(page.read_text(encoding="utf-8"))
    return None


def without_front_matter(text: str) -> str:
    if text.startswith("---\n"):
        end = text.find("\n---\n", 3)
        if end >= 0:
            return text[end + 5 :].lstrip("\n")
    return text


_HEADING = re.compile(r"#{1,6}\s+(.*)")
_CODE = re.compile(r"`([^`]+)`")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def render_page(text: str, style: Style) -> str:
    """Headings, code and emphasis as a terminal can show them; all words stay."""
    lines: list[str] = []
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif line.startswith("<!--") and not in_code:
            continue  # what the page's tests need to know
        elif in_code:
            lines.append("    " + style("note", line) if line else "")
        else:
            lines.append(_inline(line, style))
    return "\n".join(lines) + "\n"


def _inline(line: str, style: Style) -> str:
    heading = _HEADING.fullmatch(line)
    if heading:
        return style("heading", heading[1].replace("`", ""))
    line = _LINK.sub(lambda link: link[1] if link[1] == link[2] else f"{link[1]} ({link[2]})", line)
    line = _STRONG.sub(lambda found: style("strong", found[1]), line)
    return _CODE.sub(lambda found: style("note", found[1]), line)

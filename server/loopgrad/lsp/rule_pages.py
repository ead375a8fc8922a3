"""Where the rules' pages are: files in the package, and the address that opens one in the editor.

There is no public address yet. VS Code opens ``vscode://loopgrad.loopgrad/rules/LG101``, which the extension
answers with the packaged page; other clients get the page's file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from pygls.uris import from_fs_path

from loopgrad.lsp.client import Client
from loopgrad.messages import render
from loopgrad.model import Message

_PAGES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rules", "pages")


@dataclass(frozen=True)
class RulePages:
    client: Client
    language: str = "en"

    def href(self, code: str) -> str | None:
        if self.client.is_vscode:
            return f"{self.client.uri_scheme}://{self.client.extension}/rules/{code}?language={self.language}"
        path = page_path(code, self.language)
        return from_fs_path(path) if path else None

    def summary(self, code: str) -> str:
        """The rule in a sentence; empty for a code that is no rule's."""
        try:
            return render(Message.of(f"rule.{code}"), self.language)
        except KeyError:
            return ""

    def text(self, code: str) -> str | None:
        """The page in Markdown, without the remarks that its tests need."""
        path = page_path(code, self.language)
        if path is None:
            return None
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.startswith("---\n"):
            text = text.partition("\n---\n")[2].lstrip("\n")
        return "".join(line for line in text.splitlines(True) if not line.startswith("<!--"))


@lru_cache(maxsize=64)
def page_path(code: str, language: str) -> str | None:
    for folder in dict.fromkeys((language, "en")):
        path = os.path.join(_PAGES, folder, f"{code}.md")
        if code.isalnum() and os.path.isfile(path):
            return path
    return None

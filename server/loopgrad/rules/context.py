"""The files that a check reads, and the way from the engine's places to ranges in them."""

from __future__ import annotations

import ast
from typing import Any

from loopgrad.analysis.where import Site
from loopgrad.model import Message, Range
from loopgrad.source import Provider, SourceFile

from .syntax import Tree, header


class Context:
    """One check: the file, the provider of the others, and their trees."""

    def __init__(self, source: SourceFile, provider: Provider) -> None:
        self.source = source
        self.provider = provider
        self._files: dict[str, SourceFile | None] = {source.path: source}
        self._trees: dict[str, Tree] = {}

    def file(self, path: str) -> SourceFile | None:
        if path not in self._files:
            self._files[path] = self.provider.read(path)
        return self._files[path]

    def tree(self, path: str) -> Tree:
        """The tree of a file with its parents; an empty one where the file is out of reach."""
        if path not in self._trees:
            file = self.file(path)
            self._trees[path] = Tree(file.tree if file is not None else ast.Module([], []))
        return self._trees[path]

    def tree_of(self, site: Site) -> Tree:
        return self.tree(self.path(site))

    @staticmethod
    def path(site: Site) -> str:
        path: str = site.file.path
        return path

    def range(self, site: Site) -> Range:
        """Where a site stands; of a compound statement, its head."""
        return self.node_range(self.path(site), site.node)

    def node_range(self, path: str, node: ast.AST) -> Range:
        node = header(node)
        file = self.file(path)
        if file is None or not hasattr(node, "lineno"):
            line = getattr(node, "lineno", 1)
            return Range(line, 1, line, 1)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            text = file.line(node.lineno)
            return Range(node.lineno, len(text) - len(text.lstrip()) + 1, node.lineno, len(text.rstrip()) + 1)
        return file.range(node)

    def is_reported(self, path: str) -> bool:
        """Whether findings may be placed in a file: it is this one, or is checked in its own right."""
        return path == self.source.path or self.provider.is_checked(path)

    def line(self, site: Site) -> Message:
        """A line in words, as the reader counts it: in a notebook by cell, in another file with its name."""
        path = self.path(site)
        file = self.file(path)
        cell, line = file.place(site.line) if file is not None else (None, site.line)
        where = Message.of("line.cell", cell=cell, line=line) if cell else Message.of("line.line", line=line)
        if path != self.source.path:
            return Message.of("line.file", where=where, file=path.replace("\\", "/").rsplit("/", 1)[-1])
        return where

    def sites(self, found: Any) -> list[Site]:
        """The sites in a fact: one, several or none, each once."""
        several = found if isinstance(found, (list, tuple)) else [found]
        unique = {site.key: site for site in several if isinstance(site, Site)}
        return list(unique.values())

"""Carries out the plans of a fix: reads each region that they touch, and builds its blocks anew.

A block is gone through row by row. A line of several statements is parted where something comes between two of
them, a one-line suite becomes a block where it no longer fits on a line. What stood above a statement that goes
stays for the next one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import libcst as cst

from .locate import Statement, statement_start
from .regions import Region, region, united
from .rows import Lines, Row, divided, led, rows_in, shifted_rows, under, with_comments
from .snippet import Snippet, Statements, folds
from .statements import Plan, Plans, Put
from .text import Document, Splice


def carried_out(doc: Document, plans: Plans, done: Sequence[Splice]) -> list[Splice]:
    """What the plans do to the document, and what was done to it already."""
    regions = united(region(*plan.ends) for plan in plans)
    readings = [Reading(doc, each, plans, done) for each in regions]
    moving = {id(place.node): row for reading in readings for place, row in reading.moving()}
    splices = [splice for splice in done if not any(splice in reading.taken for reading in readings)]
    for reading in readings:
        module = reading.snippet.module.visit(_Rebuild(doc, reading.plans, moving))
        splices += reading.snippet.splices(cst.ensure_type(module, cst.Module))
    return splices


class Reading:
    """A region as libcst reads it, with the plans for its statements."""

    def __init__(self, doc: Document, region: Region, plans: Plans, done: Sequence[Splice]) -> None:
        start, end = region.start, region.end
        kept = {id(each.node) for plan in plans for each in (plan.place, *plan.place.outers)}
        folded = dict(folds(doc, region.nodes, kept, plans.whole))
        self.taken = [
            splice
            for splice in done
            if start <= splice.start
            and splice.end <= end
            and not any(fold.start <= splice.start and splice.end <= fold.end for fold in folded.values())
        ]
        self.snippet = Snippet(
            doc, start, end, region.indent, stand_ins=list(folded.values()), done=self.taken
        )
        self._statements = Statements(self.snippet, region.nodes, folded)
        self.plans = {
            node: plan for plan in plans if (node := self._statements.of.get(id(plan.place.node))) is not None
        }

    def moving(self) -> Iterator[tuple[Statement, Row]]:
        """The statements that move elsewhere, each as a row with what goes along."""
        for node, plan in self.plans.items():
            if not plan.moved:
                continue
            if isinstance(node, cst.BaseCompoundStatement):
                lines = divided(node.leading_lines)[1]
                yield plan.place, node.with_changes(leading_lines=lines)
                continue
            line = self._statements.lines[node]
            small = cast(cst.BaseSmallStatement, node)
            row = cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
            if isinstance(line, cst.SimpleStatementLine) and all(self._goes(each) for each in line.body):
                if node is line.body[-1]:
                    row = line.with_changes(body=[small], leading_lines=[])
                if node is line.body[0]:
                    lines = divided(line.leading_lines)[1]
                    row = row.with_changes(leading_lines=lines)
            yield plan.place, row

    def _goes(self, node: cst.CSTNode) -> bool:
        plan = self.plans.get(node)
        return plan is not None and plan.gone


@dataclass
class _Part:
    """A row, or what is left of it, with the plans for its statements; ``lines`` stand above it."""

    plans: list[Plan]
    lines: Lines
    row: Row | None


@dataclass
class _Open:
    """A header under which rows are being put."""

    text: str
    last: Plan
    first: Statement
    start: int
    lines: Lines


class _Rebuild(cst.CSTTransformer):
    def __init__(self, doc: Document, plans: Mapping[cst.CSTNode, Plan], moving: Mapping[int, Row]) -> None:
        super().__init__()
        self.doc = doc
        self.plans = plans
        self.moving = moving

    def on_visit(self, node: cst.CSTNode) -> bool:
        return not isinstance(node, (cst.BaseExpression, cst.BaseSmallStatement))

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        plan = self.plans.get(original_node)
        if plan and plan.undecorated:
            kept = [each for i, each in enumerate(updated_node.decorators) if i not in plan.undecorated]
            updated_node = updated_node.with_changes(decorators=kept)
        for name in plan.decorators if plan else ():
            decorator = cst.Decorator(
                cst.parse_expression(name), leading_lines=updated_node.lines_after_decorators
            )
            updated_node = updated_node.with_changes(
                decorators=[*updated_node.decorators, decorator], lines_after_decorators=[]
            )
        return updated_node

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        rows, lines, _ = self._rows(original_node.body, updated_node.body)
        return updated_node.with_changes(body=rows, footer=[*lines, *updated_node.footer])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        rows, lines, ending = self._rows(original_node.body, updated_node.body)
        footer = [*lines, *updated_node.footer]
        if ending:
            above, footer = with_comments(footer)
            ending[0] = led(ending[0], above)
        return updated_node.with_changes(body=[*rows, *ending], footer=footer)

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        plans = [plan for node in original_node.body if (plan := self.plans.get(node))]
        if not plans:
            return updated_node
        rows, _, ending = self._rows(
            [cst.SimpleStatementLine(original_node.body)],
            [
                cst.SimpleStatementLine(
                    updated_node.body, trailing_whitespace=updated_node.trailing_whitespace
                )
            ],
        )
        if not any(_parts_before(plan) or _parts_after(plan) for plan in plans):
            return updated_node.with_changes(body=cst.ensure_type(rows[0], cst.SimpleStatementLine).body)
        return cst.IndentedBlock([*rows, *ending])

    def _rows(
        self, old: Sequence[cst.CSTNode], new: Sequence[cst.CSTNode]
    ) -> tuple[list[Row], Lines, list[Row]]:
        """The rows that a block has then, the lines left over at its end, and the rows to go behind those."""
        rows: list[Row] = []
        lines: Lines = []
        ending: list[Row] = []
        opened: _Open | None = None
        for part in self._parts(old, new):
            early, own = divided([*lines, *part.lines])
            for plan in part.plans:
                early = self._put(plan, plan.before, rows, early)
                if plan.header:
                    opened = _Open(*plan.header, plan.place, len(rows), [*early, *own])
                    early, own = [], []
            lines = []
            if part.row is not None:
                rows.append(led(part.row, [*early, *own]))
            else:
                moved = any(plan.moved for plan in part.plans)
                lines = early if moved else [*early, *own]
                if any(plan.leaves_pass for plan in part.plans):
                    rows.append(led(cst.SimpleStatementLine([cst.Pass()]), lines))
                    lines = []
            for plan in part.plans:
                if opened and opened.last is plan:
                    self._close(opened, rows)
                    opened = None
                lines = self._put(plan, plan.after, rows, lines)
                lines += self._put(plan, plan.at_end, ending, [])
        return rows, lines, ending

    def _put(self, plan: Plan, puts: Sequence[Put], rows: list[Row], lines: Lines) -> Lines:
        """Appends what is put next to the plan's statement, below the lines; returns the lines below it."""
        for put in puts:
            if isinstance(put, Statement):
                old, goal = indentation(put), indentation(plan.place)
                new, below = shifted_rows([self.moving[id(put.node)]], old, goal), Lines()
            else:
                new, below = rows_in(self.doc, put)
            if new:
                rows += [led(new[0], lines), *new[1:]]
                lines = below
        return lines

    def _close(self, opened: _Open, rows: list[Row]) -> None:
        """Puts the rows since the header was opened under it; the same header right above takes them in."""
        indent = indentation(opened.first)
        compound = under(opened.text, self.doc)
        above = rows[opened.start - 1] if opened.start else None
        inner = rows[opened.start :]
        if (
            isinstance(above, cst.With)
            and isinstance(above.body, cst.IndentedBlock)
            and not with_comments([*above.body.footer, *opened.lines])[0]
            and _meaning(above.with_changes(leading_lines=[], body=compound.body)) == _meaning(compound)
        ):
            unit = self.doc.unit if above.body.indent is None else above.body.indent
            inner = shifted_rows([led(inner[0], opened.lines), *inner[1:]], indent, indent + unit)
            body = above.body.with_changes(body=[*above.body.body, *inner])
            rows[opened.start - 1 :] = [above.with_changes(body=body)]
        else:
            body = cst.IndentedBlock(shifted_rows(inner, indent, indent + self.doc.unit))
            rows[opened.start :] = [compound.with_changes(body=body, leading_lines=opened.lines)]

    def _parts(self, old: Sequence[cst.CSTNode], new: Sequence[cst.CSTNode]) -> Iterator[_Part]:
        """The rows of a block, parted where something comes between the statements of a line."""
        for was, row in zip(old, new):
            if not isinstance(was, cst.SimpleStatementLine) or not isinstance(row, cst.SimpleStatementLine):
                row = cast(cst.BaseCompoundStatement, row)
                plan = self.plans.get(was)
                left = None if plan and plan.gone else row.with_changes(leading_lines=[])
                yield _Part([plan] if plan else [], list(row.leading_lines), left)
            else:
                yield from _of_line(row, [self.plans.get(node) for node in was.body])


def _meaning(row: Row) -> str:
    return ast.dump(ast.parse(cst.Module([row]).code))


def _parts_before(plan: Plan | None) -> bool:
    return plan is not None and bool(plan.before or plan.header)


def _parts_after(plan: Plan | None) -> bool:
    return plan is not None and bool(plan.after or plan.at_end or plan.is_last)


def _of_line(line: cst.SimpleStatementLine, plans: Sequence[Plan | None]) -> Iterator[_Part]:
    groups: list[list[int]] = []
    for number, plan in enumerate(plans):
        if not groups or _parts_before(plan) or _parts_after(plans[number - 1]):
            groups.append([])
        groups[-1].append(number)
    staying = [number for number, plan in enumerate(plans) if not (plan and plan.gone)]
    for group in groups:
        body = [line.body[number] for number in group if number in staying]
        row: Row | None = None
        if body:
            # How the line ends, a semicolon or a comment, stays with the last of it that stays.
            ends_line = group[-1] >= staying[-1]
            semicolon = line.body[-1].semicolon if ends_line else cst.MaybeSentinel.DEFAULT
            body[-1] = body[-1].with_changes(semicolon=semicolon)
            row = cst.SimpleStatementLine(body)
            if ends_line:
                row = row.with_changes(trailing_whitespace=line.trailing_whitespace)
        yield _Part(
            [plan for number in group if (plan := plans[number])],
            list(line.leading_lines) if group is groups[0] else [],
            row,
        )


def indentation(place: Statement) -> str:
    """The indentation of the statement's block, of the one it would have if it is a one-line suite."""
    doc = place.doc
    if place.shares_header:
        assert place.outer is not None
        return doc.indentation(doc.line_of(place.outer.start)) + doc.unit
    return doc.indentation(doc.line_of(statement_start(doc, place.block[0])))

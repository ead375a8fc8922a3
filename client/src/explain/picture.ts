// The loop as a picture: iterations side by side, the same line of code on the same height in each of them, what a
// step does to a piece of the tape as edges, and where the fix cuts.

import type { Say } from '../common/say';
import type { Finding, Step } from '../protocol';
import * as geometry from './geometry';
import { type Actor, cast, type Kind } from './relations';

export interface Edit {
  readonly uri: string;
  readonly range: Step['range'];
  readonly newText: string;
}

export interface Fix {
  readonly title: string;
  readonly preferred: boolean;
  readonly edits: readonly Edit[];
}

export interface Column {
  readonly x: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly outside: boolean;
}

export interface Node extends geometry.Box {
  /** Index in the story. */
  readonly step: number;
  readonly role: Step['role'];
  readonly ghost: boolean;
  /** A backward has freed this piece. */
  readonly freed: boolean;
  readonly title: string;
  readonly text: string;
  /** What a screen reader says. */
  readonly label: string;
}

export interface Edge extends geometry.Route {
  readonly from: number;
  readonly to: number;
  readonly kind: Kind;
}

export interface Cut extends geometry.Point {
  readonly label: string;
  readonly uri: string;
  readonly range: Step['range'];
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly columns: readonly Column[];
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly cuts: readonly Cut[];
  readonly grows: boolean;
}

/** Undefined where there is nothing to draw: a finding without a story. */
export function draw(finding: Finding, fix: Fix | undefined, say: Say): Picture | undefined {
  if (finding.story.length === 0) return undefined;
  const { actors, relations, grows } = cast(finding);
  const iterations = [...new Set(actors.map((each) => each.iteration))].sort((one, other) => (one ?? 0) - (other ?? 0));
  const { boxes, height } = place(finding.story, actors, iterations);
  const freed = new Set(relations.filter((each) => each.kind === 'frees').map((each) => each.to));
  const nodes = actors.map((each, index) => node(finding.story, each, boxes[index]!, freed.has(index), say));
  const edges = relations.map((each, index) => {
    const siblings = relations.filter((other) => other.to === each.to && other.kind === each.kind);
    const shift = (siblings.indexOf(each) - (siblings.length - 1) / 2) * 12;
    return { ...each, ...route(nodes, relations[index]!, shift) };
  });
  const columns = iterations.map((iteration, index) => ({
    x: geometry.columnX(index),
    width: geometry.columnWidth,
    height: height - 2 * geometry.MARGIN,
    title: title(iteration, finding, say),
    outside: iteration === null,
  }));
  const width = geometry.columnX(iterations.length) - geometry.COLUMN_GAP + geometry.MARGIN;
  return { width, height, columns, nodes, edges, cuts: cuts(finding.story, fix, nodes, edges, say), grows };
}

function title(iteration: number | null, finding: Finding, say: Say): string {
  if (iteration !== null) return say('Iteration {0}', iteration);
  return finding.loop ? say('Before the loop') : say('Outside of a loop');
}

/**
 * A row for each line of code, and in it a box for each step in its iteration's column. The lines follow each other
 * as in the file, but what builds the piece comes first: a function may stand below or above what calls it.
 */
function place(
  story: readonly Step[],
  actors: readonly Actor[],
  iterations: readonly (number | null)[],
): { boxes: geometry.Box[]; height: number } {
  const stacks = new Map<string, number>();
  const slots = actors.map((each) => {
    const row = rowOf(story[each.step]!);
    const cell = `${row} ${each.iteration}`;
    const depth = stacks.get(cell) ?? 0;
    stacks.set(cell, depth + 1);
    return { key: `${row} ${depth}`, row, depth, step: story[each.step]! };
  });
  const files = [...new Set(story.map((step) => step.uri))];
  const builds = new Set(story.filter((step) => step.role === 'built').map(rowOf));
  const isFirst = (slot: { row: string; depth: number }): boolean => builds.has(slot.row) && slot.depth === 0;
  const rows = [...new Map(slots.map((slot) => [slot.key, slot])).values()].sort(
    (one, other) =>
      Number(isFirst(other)) - Number(isFirst(one)) ||
      files.indexOf(one.step.uri) - files.indexOf(other.step.uri) ||
      one.step.range.start.line - other.step.range.start.line ||
      one.depth - other.depth,
  );
  const order = new Map(rows.map((slot, index) => [slot.key, index]));
  const step = geometry.NODE_HEIGHT + geometry.ROW_GAP;
  const boxes = slots.map((slot, index) => {
    const column = iterations.indexOf(actors[index]!.iteration);
    return {
      column,
      x: geometry.columnX(column) + geometry.COLUMN_PADDING,
      y: geometry.MARGIN + geometry.HEADING + (order.get(slot.key) ?? 0) * step,
    };
  });
  return { boxes, height: 2 * geometry.MARGIN + geometry.HEADING + rows.length * step };
}

function rowOf(step: Step): string {
  return `${step.uri} ${step.range.start.line}`;
}

function node(story: readonly Step[], actor: Actor, box: geometry.Box, freed: boolean, say: Say): Node {
  const step = story[actor.step]!;
  const line = step.range.start.line + 1;
  const label =
    step.iteration === null
      ? say('Step {0} of {1}: {2}, line {3}: {4}', actor.step + 1, story.length, step.roleText, line, step.message)
      : say('Step {0} of {1}, iteration {2}: {3}, line {4}: {5}', actor.step + 1, story.length, step.iteration, step.roleText, line, step.message);
  return {
    ...box,
    step: actor.step,
    role: actor.role,
    ghost: actor.ghost,
    freed,
    title: say('{0} · line {1}', step.roleText, line),
    text: step.source || step.message,
    label,
  };
}

function route(nodes: readonly Node[], { from, to, kind }: { from: number; to: number; kind: Kind }, shift: number): geometry.Route {
  const one = nodes[from]!;
  const other = nodes[to]!;
  const flows = kind === 'goes' || kind === 'carries' || kind === 'severed';
  if (one.column === other.column) return geometry.beside(one, other, flows ? 'right' : 'left', shift);
  if (other.column < one.column) return geometry.back(one, other, shift);
  const blocked = nodes.some((each) => each.column > one.column && each.column < other.column && each.y === one.y);
  return geometry.across(one, other, blocked, shift);
}

/**
 * The fix cuts what leaves the step that it changes; one that changes another line cuts what is carried. Where
 * several edges would be cut by the same edit, each has its mark.
 */
function cuts(story: readonly Step[], fix: Fix | undefined, nodes: readonly Node[], edges: readonly Edge[], say: Say): Cut[] {
  if (!fix || fix.edits.length === 0) return [];
  const flowing = edges.filter((edge) => edge.kind === 'carries' || edge.kind === 'goes');
  const touched = (edge: Edge): Edit | undefined => {
    const step = story[nodes[edge.from]!.step]!;
    return fix.edits.find((edit) => edit.uri === step.uri && touches(edit, step));
  };
  const carried = flowing.filter((edge) => edge.kind === 'carries');
  let found = (carried.some(touched) ? carried : flowing).filter(touched);
  if (found.length === 0) found = carried;
  // What is built and stored on one line is cut once, where it leaves.
  const leaving = found.filter((edge) => nodes[edge.from]!.role !== 'built');
  if (leaving.length > 0) found = leaving;
  return found.map((edge) => {
    const edit = touched(edge) ?? fix.edits[0]!;
    const label = say('The fix cuts here, line {0}: {1}', edit.range.start.line + 1, fix.title);
    return { ...edge.middle, label, uri: edit.uri, range: edit.range };
  });
}

function touches(edit: Edit, step: Step): boolean {
  return edit.range.start.line <= step.range.end.line && edit.range.end.line >= step.range.start.line;
}

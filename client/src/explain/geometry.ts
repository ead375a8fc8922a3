// The picture's measures, and the way of its edges.

export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 52;
export const ROW_GAP = 30;
export const COLUMN_PADDING = 34;
export const COLUMN_GAP = 18;
export const HEADING = 38;
export const MARGIN = 8;

/** How far an edge goes around: further where it passes more boxes, so that several lie beside each other. */
const BULGE = 22;
const BULGE_MORE = 7;
const BULGE_MOST = COLUMN_PADDING + 10;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box {
  readonly column: number;
  readonly x: number;
  readonly y: number;
}

export interface Route {
  /** An SVG path. */
  readonly path: string;
  /** A point on it, about half way. */
  readonly middle: Point;
}

export const columnWidth = NODE_WIDTH + 2 * COLUMN_PADDING;

export function columnX(column: number): number {
  return MARGIN + column * (columnWidth + COLUMN_GAP);
}

/** Within one column: straight down to the next box, else around on one side. */
export function beside(from: Box, to: Box, side: 'left' | 'right', shift: number): Route {
  const gap = to.y - (from.y + NODE_HEIGHT);
  if (side === 'right' && gap > 0 && gap <= ROW_GAP) return line(bottom(from), top(to));
  if (side === 'left' && from.y - (to.y + NODE_HEIGHT) === ROW_GAP) return line(top(from, -40), bottom(to, -40));
  const x = side === 'left' ? from.x : from.x + NODE_WIDTH;
  const rows = Math.abs(to.y - from.y) / (NODE_HEIGHT + ROW_GAP);
  const bulge = Math.min(BULGE_MOST, BULGE + BULGE_MORE * (rows - 1)) + shift / 2;
  const out = side === 'left' ? -bulge : bulge;
  const one = { x, y: center(from) + shift / 2 };
  const other = { x, y: center(to) + shift / 2 };
  return curve(one, { x: x + out, y: one.y }, { x: x + out, y: other.y }, other);
}

/**
 * To a later column: along the row of its source as far as the gap before the target, then down or up. Where a box
 * of a column between is in the way (`blocked`), it passes below its own row.
 */
export function across(from: Box, to: Box, blocked: boolean, shift: number): Route {
  const one = { x: from.x + NODE_WIDTH, y: center(from) + shift };
  const other = { x: to.x, y: center(to) + shift };
  if (to.column === from.column + 1) {
    const half = (one.x + other.x) / 2;
    return curve(one, { x: half, y: one.y }, { x: half, y: other.y }, other);
  }
  const y = blocked ? from.y + NODE_HEIGHT + ROW_GAP / 2 + shift / 2 : one.y;
  const start = { x: columnX(from.column) + columnWidth, y };
  const bend = { x: columnX(to.column), y };
  const half = (bend.x + other.x) / 2;
  const into = curve(bend, { x: half, y }, { x: half, y: other.y }, other);
  const first = (one.x + start.x) / 2;
  return {
    path: `M ${at(one)} C ${at({ x: first, y: one.y })} ${at({ x: first, y })} ${at(start)} L ${at(bend)} C ${into.path.split(' C ')[1]}`,
    middle: into.middle,
  };
}

/** To an earlier column, against the course of time: what happens now to what was built then. */
export function back(from: Box, to: Box, shift: number): Route {
  const one = { x: from.x, y: center(from) + shift };
  const other = { x: to.x + NODE_WIDTH, y: center(to) + shift };
  const half = (one.x + other.x) / 2;
  return curve(one, { x: half, y: one.y }, { x: half, y: other.y }, other);
}

function line(one: Point, other: Point): Route {
  return { path: `M ${at(one)} L ${at(other)}`, middle: { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 } };
}

function curve(one: Point, out: Point, into: Point, other: Point): Route {
  return {
    path: `M ${at(one)} C ${at(out)} ${at(into)} ${at(other)}`,
    middle: {
      x: (one.x + 3 * out.x + 3 * into.x + other.x) / 8,
      y: (one.y + 3 * out.y + 3 * into.y + other.y) / 8,
    },
  };
}

function center(box: Box): number {
  return box.y + NODE_HEIGHT / 2;
}

function bottom(box: Box, shift = 0): Point {
  return { x: box.x + NODE_WIDTH / 2 + shift, y: box.y + NODE_HEIGHT };
}

function top(box: Box, shift = 0): Point {
  return { x: box.x + NODE_WIDTH / 2 + shift, y: box.y };
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

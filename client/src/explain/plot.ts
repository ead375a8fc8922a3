// Graph nodes per iteration, before and after the fix: a small line chart, and the same as a table.

import type { Say } from '../common/say';
import { element, escape } from './markup';

export interface Series {
  readonly name: string;
  readonly kind: 'before' | 'after';
  /** -1: the iteration raised. */
  readonly values: readonly number[];
}

const WIDTH = 460;
const HEIGHT = 190;
const LEFT = 52;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 34;

/** The most points that a series is drawn with; the table has them all. */
const POINTS = 200;

export interface Scale {
  x(iteration: number): number;
  y(nodes: number): number;
  readonly top: number;
  readonly last: number;
}

/** Iterations count from 1; the axis of nodes begins at 0, so that growth looks as large as it is. */
export function scale(series: readonly Series[]): Scale {
  const last = Math.max(2, ...series.map((each) => each.values.length));
  const top = round(Math.max(1, ...series.flatMap((each) => each.values)));
  return {
    last,
    top,
    x: (iteration) => LEFT + ((iteration - 1) / (last - 1)) * (WIDTH - LEFT - RIGHT),
    y: (nodes) => HEIGHT - BOTTOM - (nodes / top) * (HEIGHT - TOP - BOTTOM),
  };
}

export function plot(series: readonly Series[], say: Say): string {
  const shown = series.filter((each) => each.values.length > 0);
  if (shown.length === 0) return '';
  const axes = scale(shown);
  const chart = element(
    'svg',
    { class: 'plot', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: 'img', 'aria-label': summary(shown, say) },
    ...grid(axes),
    element('text', { class: 'axis', x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, 'text-anchor': 'middle' }, escape(say('iteration'))),
    ...shown.map((each) => line(each, axes)),
  );
  const keys = shown.map((each) => element('span', { class: `key ${each.kind}` }, escape(each.name)));
  return element('div', { class: 'plot-frame' }, chart, element('p', { class: 'keys', 'aria-hidden': 'true' }, ...keys)) + table(shown, say);
}

function grid(axes: Scale): string[] {
  const marks = [0, axes.top / 2, axes.top].filter((value) => Number.isInteger(value));
  const rows = marks.map(
    (value) =>
      element('path', { class: 'grid', d: `M ${LEFT} ${fixed(axes.y(value))} H ${WIDTH - RIGHT}` }) +
      element('text', { class: 'axis', x: LEFT - 6, y: fixed(axes.y(value) + 4), 'text-anchor': 'end' }, String(value)),
  );
  const every = Math.max(1, Math.ceil(axes.last / 8));
  const columns: string[] = [];
  for (let iteration = 1; iteration <= axes.last; iteration += every) {
    columns.push(element('text', { class: 'axis', x: fixed(axes.x(iteration)), y: HEIGHT - BOTTOM + 14, 'text-anchor': 'middle' }, String(iteration)));
  }
  return [...rows, ...columns];
}

function line(series: Series, axes: Scale): string {
  const every = Math.ceil(series.values.length / POINTS);
  let last = 0;
  const points: string[] = [];
  const marks: string[] = [];
  series.values.forEach((nodes, index) => {
    if (index % every !== 0 && nodes >= 0) return;
    const x = fixed(axes.x(index + 1));
    if (nodes < 0) {
      const y = fixed(axes.y(last));
      marks.push(element('path', { class: 'raised', d: `M ${x - 5} ${y - 5} l 10 10 m 0 -10 l -10 10` }));
      return;
    }
    last = nodes;
    const y = fixed(axes.y(nodes));
    points.push(`${x} ${y}`);
    // Another shape for each series: colour alone does not tell them apart.
    marks.push(
      series.kind === 'before'
        ? element('rect', { class: 'mark', x: x - 3, y: y - 3, width: 6, height: 6 })
        : element('circle', { class: 'mark', cx: x, cy: y, r: 3.5 }),
    );
  });
  return element('g', { class: `series ${series.kind}` }, element('path', { class: 'line', d: `M ${points.join(' L ') || '0 0'}` }), ...marks);
}

function summary(series: readonly Series[], say: Say): string {
  return series.map((each) => `${each.name}: ${each.values.map((value) => word(value, say)).join(', ')}`).join('. ');
}

function table(series: readonly Series[], say: Say): string {
  const last = Math.max(...series.map((each) => each.values.length));
  const head = [say('Iteration'), ...series.map((each) => each.name)];
  const rows = Array.from({ length: last }, (_, index) => [
    String(index + 1),
    ...series.map((each) => (index < each.values.length ? word(each.values[index]!, say) : '')),
  ]);
  return element(
    'details',
    {},
    element('summary', {}, escape(say('As a table'))),
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head.map((cell) => element('th', { scope: 'col' }, escape(cell))))),
      element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, escape(cell)))))),
    ),
  );
}

function word(nodes: number, say: Say): string {
  return nodes < 0 ? say('raised') : String(nodes);
}

/** The next round number: 1, 2 or 5 times a power of ten. */
function round(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10);
}

function fixed(value: number): number {
  return Math.round(value * 10) / 10;
}

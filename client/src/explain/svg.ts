// The picture as SVG. Colours come from classes, and so from the theme; what a colour says, a shape or a word says too.

import type { Say } from '../common/say';
import { HEADING, MARGIN, NODE_HEIGHT, NODE_WIDTH } from './geometry';
import { element, escape, fit } from './markup';
import type { Cut, Edge, Node, Picture } from './picture';
import type { Kind } from './relations';

const TITLE_COLUMNS = 24;
const TEXT_COLUMNS = 22;

export function svg(picture: Picture, say: Say): string {
  const { width, height, columns, nodes, edges, cuts } = picture;
  return element(
    'svg',
    {
      class: `picture columns-${Math.min(columns.length, 4)}`,
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'group',
      'aria-label': say('The loop, iteration by iteration. Arrow keys go from step to step.'),
    },
    element('defs', {}, ...(['goes', 'carries', 'frees', 'changes', 'retains', 'severed'] as const).map(arrowHead)),
    ...columns.map((column) =>
      element(
        'g',
        { class: column.outside ? 'column outside' : 'column', 'aria-hidden': 'true' },
        element('rect', { x: column.x, y: MARGIN, width: column.width, height: column.height, rx: 6 }),
        element('text', { x: column.x + column.width / 2, y: MARGIN + HEADING / 2 + 4, 'text-anchor': 'middle' }, escape(fit(column.title, 40))),
      ),
    ),
    element('g', { 'aria-hidden': 'true' }, ...edges.map((edge) => drawEdge(edge, nodes))),
    ...nodes.map((node, index) => drawNode(node, index === 0, say)),
    ...cuts.map(drawCut),
  );
}

function arrowHead(kind: Kind): string {
  const shape = element('path', { d: 'M 0 0 L 8 4 L 0 8 z', class: `head ${kind}` });
  const size = { markerWidth: 8, markerHeight: 8, refX: 7, refY: 4 };
  return element('marker', { id: `head-${kind}`, ...size, orient: 'auto', markerUnits: 'userSpaceOnUse' }, shape);
}

function drawEdge(edge: Edge, nodes: readonly Node[]): string {
  const ghost = nodes[edge.from]?.ghost && nodes[edge.to]?.ghost ? ' ghost' : '';
  const path = element('path', { class: `edge ${edge.kind}${ghost}`, d: edge.path, 'marker-end': `url(#head-${edge.kind})` });
  if (edge.kind !== 'severed') return path;
  const { x, y } = edge.middle;
  return path + element('path', { class: 'gap', d: `M ${x - 5} ${y - 5} L ${x + 5} ${y + 5} M ${x + 5} ${y - 5} L ${x - 5} ${y + 5}` });
}

function drawNode(node: Node, first: boolean, say: Say): string {
  const { x, y } = node;
  const classes = ['node', node.role, ...(node.freed ? ['is-freed'] : []), ...(node.ghost ? ['ghost'] : [])];
  const parts = [
    element('rect', { class: 'box', x, y, width: NODE_WIDTH, height: NODE_HEIGHT, rx: node.role === 'built' ? 2 : 8 }),
    ...(node.role === 'built' ? [perforation(node)] : []),
    element('text', { class: 'title', x: x + 14, y: y + 20 }, escape(fit(node.title, TITLE_COLUMNS))),
    element('text', { class: 'code', x: x + 14, y: y + 39 }, escape(fit(node.text, TEXT_COLUMNS))),
    ...(node.freed ? [element('text', { class: 'tag', x: x + NODE_WIDTH - 8, y: y + 20, 'text-anchor': 'end' }, escape(fit(say('freed'), 8)))] : []),
  ];
  if (node.ghost) return element('g', { class: classes.join(' '), 'aria-hidden': 'true', 'data-step': node.step }, ...parts);
  return element(
    'g',
    {
      class: classes.join(' '),
      id: `node-${node.step}`,
      role: 'button',
      tabindex: first ? 0 : -1,
      'data-step': node.step,
      'aria-label': node.label,
    },
    element('title', {}, escape(fit(node.label, 400))),
    ...parts,
  );
}

/** The holes of a tape along its left edge; where the piece has been freed, it is crossed out. */
function perforation({ x, y, freed }: Node): string {
  const holes = [0, 1, 2, 3].map((index) => element('rect', { class: 'hole', x: x + 3, y: y + 6 + index * 11, width: 5, height: 6 }));
  const crossed = freed ? element('path', { class: 'crossed', d: `M ${x} ${y + NODE_HEIGHT} L ${x + NODE_WIDTH} ${y}` }) : '';
  return holes.join('') + crossed;
}

function drawCut(cut: Cut, index: number): string {
  const { x, y } = cut;
  return element(
    'g',
    { class: 'scissors', id: `cut-${index}`, role: 'button', tabindex: -1, 'data-cut': index, 'aria-label': cut.label },
    element('title', {}, escape(fit(cut.label, 400))),
    element('circle', { cx: x, cy: y, r: 11 }),
    // Scissors: two rings and two blades.
    element('path', { d: `M ${x - 2} ${y + 2} L ${x + 6} ${y - 6} M ${x + 2} ${y + 2} L ${x - 6} ${y - 6}` }),
    element('circle', { class: 'ring', cx: x - 3.5, cy: y + 4.5, r: 2.2 }),
    element('circle', { class: 'ring', cx: x + 3.5, cy: y + 4.5, r: 2.2 }),
  );
}

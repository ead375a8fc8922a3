// The panel's picture, drawn from what the server said of real scripts (data/findings.json).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { english } from '../src/common/say';
import { NODE_HEIGHT, NODE_WIDTH } from '../src/explain/geometry';
import { draw, type Fix, type Picture } from '../src/explain/picture';
import type { Explanation, Finding, Step } from '../src/protocol';

const explanations = JSON.parse(readFileSync('client/test/data/findings.json', 'utf8')) as Record<string, Explanation>;
const finding = (name: string): Finding => explanations[name]!.finding!;

function picture(name: string, fix?: Fix): Picture {
  const drawn = draw(finding(name), fix, english);
  assert.ok(drawn);
  return drawn;
}

/** Edges as `role line -> role line`, by their kind. */
function edges(drawn: Picture): string[] {
  const name = (index: number): string => `${drawn.nodes[index]!.title.replace(' · line', '')}@${drawn.nodes[index]!.column}`;
  return drawn.edges.map((edge) => `${name(edge.from)} ${edge.kind} ${name(edge.to)}`);
}

function fixAt(step: Step, ...more: Step[]): Fix {
  const edits = [step, ...more].map(({ uri, range }) => ({ uri: uri!, range, newText: '.detach()' }));
  return { title: 'Detach it', preferred: true, edits };
}

test('two values carried into the next iteration', () => {
  const drawn = picture('LG101');
  assert.deepEqual(drawn.columns.map((column) => column.title), ['Iteration 1', 'Iteration 2']);
  assert.deepEqual(edges(drawn), [
    'built 68@0 goes carried 76@0',
    'built 68@0 goes carried 77@0',
    'freed 70@0 frees built 68@0',
    'carried 76@0 carries reached again 70@1',
    'carried 77@0 carries reached again 70@1',
  ]);
  assert.deepEqual(drawn.nodes.map((node) => node.freed), [true, false, false, false, false]);
});

test('the same line is on the same height in each iteration', () => {
  const [, freed, , , reached] = picture('LG101').nodes;
  assert.equal(freed!.y, reached!.y);
  assert.ok(freed!.x < reached!.x);
});

test('a graph built before the loop is walked by two iterations', () => {
  const drawn = picture('LG102');
  assert.deepEqual(drawn.columns.map((column) => [column.title, column.outside]), [
    ['Before the loop', true],
    ['Iteration 1', false],
    ['Iteration 2', false],
  ]);
  assert.ok(edges(drawn).includes('stored 67@0 goes freed 81@1'));
  assert.ok(edges(drawn).includes('stored 67@0 carries reached again 81@2'));
});

test('growth is shown over three iterations, the later ones as shadows of the first', () => {
  const drawn = picture('LG201');
  assert.ok(drawn.grows);
  assert.deepEqual(drawn.columns.map((column) => column.title), ['Iteration 1', 'Iteration 2', 'Iteration 3']);
  assert.deepEqual(drawn.nodes.map((node) => node.ghost), [false, false, true, true, true, true]);
  assert.equal(drawn.edges.filter((edge) => edge.kind === 'carries').length, 2);
});

test('what builds comes first, wherever its function stands in the file', () => {
  const drawn = picture('LG103');
  const built = drawn.nodes.find((node) => node.role === 'built')!;
  assert.equal(built.y, Math.min(...drawn.nodes.map((node) => node.y)));
});

test('a cut before the backward severs the graph', () => {
  assert.ok(edges(picture('LG301')).every((edge) => edge.includes(' severed reached again')));
});

test('a fix at the stores has a mark on each edge that they send on', () => {
  const { story } = finding('LG101');
  const drawn = picture('LG101', fixAt(story[2]!, story[3]!));
  assert.equal(drawn.cuts.length, 2);
  for (const cut of drawn.cuts) {
    assert.ok(cut.x > drawn.nodes[2]!.x + NODE_WIDTH && cut.x < drawn.nodes[4]!.x, 'between the iterations');
  }
  assert.deepEqual(drawn.cuts.map((cut) => cut.range.start.line + 1), [76, 77]);
  assert.equal(drawn.cuts[0]!.label, 'The fix cuts here, line 76: Detach it');
});

test('a fix on another line cuts what is carried', () => {
  const { story } = finding('LG101');
  const elsewhere = { ...story[0]!, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } } };
  assert.equal(picture('LG101', fixAt(elsewhere)).cuts.length, 2);
  assert.equal(picture('LG101').cuts.length, 0);
});

test('what is built and stored on one line is cut once', () => {
  const drawn = picture('LG104', fixAt(finding('LG104').story[2]!));
  assert.equal(drawn.cuts.length, 1);
});

test('a finding without a story has no picture', () => {
  assert.equal(draw(finding('LG402'), undefined, english), undefined);
});

test('in every picture, boxes lie in the frame and in their columns, and none covers another', () => {
  for (const name of Object.keys(explanations)) {
    const drawn = draw(finding(name), undefined, english);
    if (!drawn) continue;
    for (const node of drawn.nodes) {
      const column = drawn.columns[node.column]!;
      assert.ok(node.x >= column.x && node.x + NODE_WIDTH <= column.x + column.width, name);
      assert.ok(node.y >= 0 && node.y + NODE_HEIGHT <= drawn.height, name);
      const covering = drawn.nodes.filter((other) => other !== node && other.column === node.column);
      assert.ok(covering.every((other) => Math.abs(other.y - node.y) >= NODE_HEIGHT), `${name}: boxes on each other`);
    }
    for (const edge of drawn.edges) {
      assert.notEqual(edge.from, edge.to);
      assert.ok(edge.middle.x >= 0 && edge.middle.x <= drawn.width && edge.middle.y >= 0 && edge.middle.y <= drawn.height, name);
    }
    assert.equal(new Set(drawn.nodes.filter((node) => !node.ghost).map((node) => node.step)).size, finding(name).story.length, name);
  }
});

test('an edge over a column in between goes through none of its boxes', () => {
  const story = finding('LG102').story;
  // The store stands on the line of the first iteration's backward: their boxes are on one height.
  const moved = story.map((step) => (step.role === 'stored' ? { ...step, range: story[2]!.range } : step));
  const drawn = draw({ ...finding('LG102'), story: moved }, undefined, english)!;
  const edge = drawn.edges.find((each) => each.kind === 'carries')!;
  const between = drawn.nodes.find((node) => node.role === 'freed')!;
  assert.equal(drawn.nodes[edge.from]!.y, between.y);
  const straight = /L [\d.]+ ([\d.]+)/.exec(edge.path)![1]!;
  assert.ok(Number(straight) > between.y + NODE_HEIGHT);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { Fixed, HeldFinding, Report } from '../src/confirm/report';
import { english } from '../src/common/say';
import { element, escape, fit } from '../src/explain/markup';
import { page, type View } from '../src/explain/page';
import { plot, scale } from '../src/explain/plot';
import type { Explanation } from '../src/protocol';

const explanations = JSON.parse(readFileSync('client/test/data/findings.json', 'utf8')) as Record<string, Explanation>;

const run: Report = {
  version: 1,
  verdict: 'confirmed',
  outcome: 'second-backward',
  iteration: 2,
  loop_line: 66,
  raised_at: null,
  freed_at: null,
  built_at: null,
  carriers: [{ name: 'benchmark', stored_at: { path: 'a.py', line: 76 } }],
  device: 'cpu',
  redirected: false,
  shape_only: false,
  steps: 2,
  graph_nodes: [30, -1],
  seconds: 1,
  reason: 'PyTorch raises',
  findings: [],
};
const fixed: Fixed = {
  ...run,
  verdict: 'clean',
  steps: 8,
  graph_nodes: [22, 22, 22],
  still_trained: ['a', 'b'],
  no_longer_trained: [],
  first_loss_equal: true,
  proven: true,
};

const held: HeldFinding = {
  code: 'LG101',
  message: '',
  path: 'a.py',
  certainty: 'certain',
  outcome: 'second-backward',
  range: { start: { line: 1, column: 1 } },
  status: 'refuted',
};

function markup(name: string, view: Partial<View> = {}): string {
  return page({ explanation: explanations[name]!, gone: false, canConfirm: true, ...view }, english).markup;
}

/** Checks that elements are closed in the order in which they were opened; gives how often each occurs. */
function count(text: string): Record<string, number> {
  const open: string[] = [];
  const counts: Record<string, number> = {};
  assert.doesNotMatch(text.replace(/<[^<>]*>/g, ''), /[<>]/);
  for (const [, slash, name] of text.matchAll(/<(\/?)([a-z0-9]+)(?: [a-zA-Z-]+="[^"<>]*")*>/g)) {
    if (slash) assert.equal(open.pop(), name);
    else {
      open.push(name!);
      counts[name!] = (counts[name!] ?? 0) + 1;
    }
  }
  assert.deepEqual(open, []);
  return counts;
}

test('each page is well-formed', () => {
  for (const name of Object.keys(explanations)) {
    assert.ok(count(markup(name, { report: { ...run, fixed } }))['h1'] === 1, name);
  }
});

test('no script, no style and no handler gets in, whatever the code says', () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>\u0000';
  const { finding } = explanations['LG101']!;
  const story = finding!.story.map((step) => ({ ...step, source: evil, message: evil, roleText: evil }));
  const explanation = { ...explanations['LG101']!, name: evil, finding: { ...finding!, message: evil, story } };
  const fix = { title: evil, preferred: true, edits: [{ uri: story[2]!.uri!, range: story[2]!.range, newText: '' }] };
  const report = { ...run, reason: evil, device: evil, carriers: [{ name: evil, stored_at: null }], fixed: { ...fixed, no_longer_trained: [evil] } };
  const text = page({ explanation, fix, report, gone: true, canConfirm: true }, english).markup;
  const names = Object.keys(count(text));
  for (const name of ['img', 'script', 'style', 'iframe']) assert.ok(!names.includes(name), name);
  const tags = (text.match(/<[a-z][^<>]*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));
  assert.deepEqual(tags.filter((tag) => / (on\w+|style)=/.test(tag)), []);
  assert.doesNotMatch(text, /\u0000/);
});

test('the picture has one stop of the tabulator, and each step a name', () => {
  const text = markup('LG101');
  assert.equal(text.match(/tabindex="0"/g)?.length, 1);
  assert.equal(text.match(/role="button" tabindex/g)?.length, 5);
  assert.match(text, /aria-label="Step 1 of 5, iteration 1: built, line 68: this builds/);
});

test('a confirmed run names the calls that built the graph, and says its reason as a sentence', () => {
  const built = { built_at: { path: 'net.py', line: 12 }, built_through: [{ path: 'a.py', line: 30 }, { path: 'a.py', line: 80 }] };
  const text = markup('LG101', { report: { ...run, ...built, reason: 'the script raised an error' } });
  assert.match(text, /built in <code>net\.py:12<\/code>.*called in <code>a\.py:30<\/code>.*called in <code>a\.py:80<\/code>/s);
  assert.match(text, /<p>The script raised an error\.<\/p>/);
  assert.doesNotMatch(markup('LG101', { report: run }), /built in <code>/);
});

test('the story is there as a list, with a link for each step', () => {
  const text = markup('LG101');
  assert.equal(count(text)['li'], 5);
  assert.equal(text.match(/<a href="#" data-step=/g)?.length, 5);
});

test('shadows of growth are no stops and are not read out', () => {
  const text = markup('LG201');
  assert.equal(text.match(/role="button" tabindex/g)?.length, 2);
  assert.equal(text.match(/class="node [a-z]+ ghost" aria-hidden="true"/g)?.length, 4);
});

test('a fix is offered by its title, not when the finding is gone', () => {
  const step = explanations['LG101']!.finding!.story[2]!;
  const fix = { title: 'Detach it', preferred: true, edits: [{ uri: step.uri!, range: step.range, newText: '' }] };
  assert.match(markup('LG101', { fix }), /id="button-fix">Apply the fix: Detach it</);
  assert.doesNotMatch(markup('LG101', { fix, gone: true }), /button-fix/);
  assert.match(markup('LG101', { gone: true }), /This finding is gone/);
});

test('nothing offers to run the script where it may not be run', () => {
  assert.match(markup('LG101'), /button-confirm/);
  assert.doesNotMatch(markup('LG101', { canConfirm: false }), /button-confirm/);
});

test('a run is told: the verdict, what carries, and the proof of the fix', () => {
  const text = markup('LG101', { report: { ...run, fixed } });
  assert.match(text, /Confirmed on cpu in iteration 2/);
  assert.match(text, /<code>benchmark<\/code> <a href="#" data-carrier="0"/);
  assert.match(text, /The fix is proven/);
  assert.match(text, /All 2 parameters that were trained still are/);
  assert.match(text, /The first loss is the same/);
});

test('a fix that is not proven says what it loses', () => {
  const text = markup('LG101', { report: { ...run, fixed: { ...fixed, proven: false, no_longer_trained: ['net.0.weight'], first_loss_equal: false } } });
  assert.match(text, /The fix is not proven/);
  assert.match(text, /No longer trained: net\.0\.weight/);
  assert.match(text, /The first loss is another one/);
});

test('a finding that a run does not bear out can be reported', () => {
  const text = markup('LG101', { report: { ...run, verdict: 'clean', iteration: null }, held: { ...held, report: '# a script' } });
  assert.match(text, /The run does not bear out LG101/);
  assert.match(text, /button-report/);
  assert.doesNotMatch(markup('LG101', { report: run, held }), /button-report/);
  assert.doesNotMatch(markup('LG101', { report: run, held: { ...held, status: 'confirmed' } }), /does not bear out/);
});

test('after a change the run before is shown beside the one now', () => {
  const text = markup('LG101', { report: { ...fixed, version: 1, findings: [] }, before: run, gone: true });
  assert.match(text, /before the change: 30, raised\. now: 22, 22, 22/);
});

test('the plot has a mark for each iteration and a cross where it raised', () => {
  const text = plot([{ name: 'as it is', kind: 'before', values: [30, -1] }, { name: 'with', kind: 'after', values: [22, 22, 22] }], english);
  assert.equal(text.match(/class="mark"/g)?.length, 4);
  assert.equal(text.match(/class="raised"/g)?.length, 1);
  assert.equal(count(text)['tr'], 4);
  assert.equal(plot([{ name: 'none', kind: 'before', values: [] }], english), '');
});

test('the axis of nodes begins at zero and ends at a round number', () => {
  const axes = scale([{ name: '', kind: 'before', values: [10, 130] }]);
  assert.equal(axes.top, 200);
  assert.ok(axes.y(0) > axes.y(130) && axes.y(130) > axes.y(200));
  assert.ok(axes.x(1) < axes.x(2));
});

test('a long run is drawn with some of its points and told with all', () => {
  const values = Array.from({ length: 5_000 }, (_, index) => index);
  const text = plot([{ name: 'as it is', kind: 'before', values }], english);
  assert.ok((text.match(/class="mark"/g)?.length ?? 0) <= 200);
  assert.equal(count(text)['tr'], 5_001);
});

test('text is fitted by its width, Chinese characters taking two columns', () => {
  assert.equal(fit('abcdef', 6), 'abcdef');
  assert.equal(fit('abcdefg', 6), 'abcde…');
  assert.equal(fit('计算图随之', 6), '计算…');
});

test('markup is escaped in text and in attributes', () => {
  assert.equal(escape('<&">\''), '&lt;&amp;&quot;&gt;&#39;');
  assert.equal(element('a', { title: '"x"', id: undefined }, 'y'), '<a title="&quot;x&quot;">y</a>');
});

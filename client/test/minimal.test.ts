import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { minimalScript, reportScript } from '../src/confirm/minimal';
import type { HeldFinding, Report } from '../src/confirm/report';

const source = `import sys

LIMIT = 3


def unused():
    return helper()


def helper(x=(
    1,
)):
    return x


class Model:
    """def inside():

def outside():
    pass
"""

    def forward(self):
        return used()


def used():
    return "def text():\\n"


@register
def decorated():
    return never_called


async def later():
    pass


model = Model()
print(model.forward())
`;

test('what nothing names is left out, and what it alone used', () => {
  const minimal = minimalScript(source);
  for (const gone of ['unused', 'helper', 'later']) assert.ok(!minimal.includes(`def ${gone}`), gone);
  for (const kept of ['import sys', 'LIMIT = 3', 'class Model', 'def outside', 'def used', '@register\ndef decorated', 'print(']) {
    assert.ok(minimal.includes(kept), kept);
  }
});

test('the rest stays to the letter', () => {
  const whole = 'def f():\n    return 1\n\n\nprint(f())\n';
  assert.equal(minimalScript(whole), whole);
});

test('Python reads what is left, and it does the same', { skip: spawnSync('python3', ['--version']).status !== 0 && 'no python3' }, () => {
  const runnable = source.replace('@register', '@(lambda f: f)');
  const before = spawnSync('python3', ['-c', runnable], { encoding: 'utf8' });
  const after = spawnSync('python3', ['-c', minimalScript(runnable)], { encoding: 'utf8' });
  assert.equal(before.status, 0, before.stderr);
  assert.deepEqual([after.status, after.stdout], [before.status, before.stdout], after.stderr);
});

test('the report says what was said and what was shown, as remarks above the script', () => {
  const held = { code: 'LG101', certainty: 'certain', outcome: 'second-backward', message: 'x carries' } as HeldFinding;
  const report = { verdict: 'clean', device: 'cpu', steps: 8, reason: 'nothing went wrong', graph_nodes: [3, 3] } as unknown as Report;
  const text = reportScript('print(1)\n', held, report, { loopgrad: '0.1.0', python: '/env/python', command: 'loopgrad confirm' });
  const lines = text.split('\n');
  assert.ok(lines.slice(0, -3).every((line) => line.startsWith('#')));
  assert.match(text, /reports LG101 \(certain, second-backward\)/);
  assert.match(text, /Run: clean on cpu, 8 iterations: nothing went wrong/);
  assert.ok(text.endsWith('\nprint(1)\n'));
});

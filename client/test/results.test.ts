import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import type { HeldFinding, Report } from '../src/confirm/report';
import { keyOf, Results } from '../src/confirm/results';

const cwd = path.resolve('/w');
const script = path.join(cwd, 'train.py');

function held(file: string, line: number, status: HeldFinding['status'] = 'confirmed'): HeldFinding {
  return {
    code: 'LG101',
    message: '',
    path: file,
    certainty: 'certain',
    outcome: 'second-backward',
    range: { start: { line, column: 5 } },
    status,
  };
}

function report(verdict: Report['verdict'], ...findings: HeldFinding[]): Report {
  return { verdict, findings } as unknown as Report;
}

test('a finding is found by its key, whose path is absolute', () => {
  const results = new Results();
  const finding = held('pkg/model.py', 7);
  results.add(script, cwd, report('confirmed', finding));
  const key = keyOf(finding, cwd);
  assert.deepEqual(key, ['LG101', path.join(cwd, 'pkg', 'model.py'), 7, 5]);
  assert.equal(results.of(key)?.held, finding);
});

test('of a finding that the run does not name, the run of its file is shown', () => {
  const results = new Results();
  results.add(script, cwd, report('clean'));
  const found = results.of(['LG101', script, 3, 1]);
  assert.equal(found?.held, undefined);
  assert.equal(found?.result.script, script);
  assert.equal(results.of(['LG101', path.join(cwd, 'other.py'), 3, 1]), undefined);
});

test('when a file of the run changes, the run says nothing any more', () => {
  const results = new Results();
  const finding = held('model.py', 7);
  results.add(script, cwd, report('confirmed', finding));
  assert.ok(!results.forget(path.join(cwd, 'other.py')));
  assert.ok(results.forget(path.join(cwd, 'model.py')));
  assert.equal(results.of(keyOf(finding, cwd)), undefined);
  assert.ok(!results.forget(script));
});

test('a clean run remembers the confirmed one before it, through a change', () => {
  const results = new Results();
  const faulty = report('confirmed', held('train.py', 7));
  results.add(script, cwd, faulty);
  results.forget(script);
  assert.equal(results.add(script, cwd, report('clean')).before, faulty);
  assert.equal(results.add(path.join(cwd, 'other.py'), cwd, report('clean')).before, undefined);
});

test('the last of several runs counts', () => {
  const results = new Results();
  const finding = held('model.py', 7, 'not reached');
  results.add(script, cwd, report('clean', finding));
  const later = held('model.py', 7);
  results.add(path.join(cwd, 'other.py'), cwd, report('confirmed', later));
  assert.equal(results.of(keyOf(finding, cwd))?.held, later);
});

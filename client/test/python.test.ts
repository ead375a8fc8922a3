import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { inspect, onPath } from '../src/server/python';
import { Folder, shell } from './folder';

const saying = (version: string, name = 'cpython'): string => `echo '[[${version}], "/the/real/python", "${name}"]'`;

test('a Python says what it is', shell, async (context) => {
  const python = new Folder(context).program('python3', saying('3, 12, 4'));
  assert.deepEqual(await inspect([python]), {
    python: { command: [python], executable: '/the/real/python', version: [3, 12, 4], implementation: 'cpython' },
  });
});

for (const [version, name, unusable] of [
  ['3, 9, 2', 'cpython', 'too-old'],
  ['2, 7, 18', 'cpython', 'too-old'],
  ['3, 15, 0', 'cpython', 'too-new'],
  ['3, 11, 9', 'pypy', 'other-implementation'],
] as const) {
  test(`${name} ${version} is ${unusable}`, shell, async (context) => {
    const python = new Folder(context).program('python3', saying(version, name));
    const inspection = await inspect([python]);
    assert.equal('unusable' in inspection && inspection.unusable, unusable);
    assert.equal('detail' in inspection && inspection.detail, `${name} ${version.replaceAll(', ', '.')}`);
  });
}

test('what is not there, and what fails, are told apart', shell, async (context) => {
  const folder = new Folder(context);
  const missing = await inspect([path.join(folder.path, 'none')]);
  assert.equal('unusable' in missing && missing.unusable, 'missing');
  const failing = await inspect([folder.program('python', 'echo no such command >&2; exit 9')]);
  assert.deepEqual(failing, { unusable: 'failed', detail: 'no such command' });
  const other = await inspect([folder.program('echo', 'echo hello')]);
  assert.deepEqual(other, { unusable: 'failed', detail: 'hello' });
  assert.deepEqual(await inspect([]), { unusable: 'missing', detail: '' });
});

test('it is asked with nothing of its environment and of the working folder', shell, async (context) => {
  const folder = new Folder(context);
  const python = folder.program('python3', `echo "$@" > "${folder.path}/asked"; ${saying('3, 12, 0')}`);
  await inspect([python, '-3']);
  assert.match(readFileSync(path.join(folder.path, 'asked'), 'utf8'), /^-3 -I -S -c /);
});

test('the PATH is searched in its order, names by how likely they are, relative entries not at all', shell, (context) => {
  const folder = new Folder(context);
  const first = folder.program('a/python', '');
  const second = folder.program('b/python3', '');
  const third = folder.program('b/python3.12', '');
  folder.write('b/python', 'no program');
  const variable = [path.dirname(first), '.', '', path.relative('.', path.dirname(second)), path.dirname(second)].join(':');
  assert.deepEqual(onPath({ PATH: variable }, 'linux'), [[second], [first], [third]]);
  assert.deepEqual(onPath({}, 'linux'), []);
});

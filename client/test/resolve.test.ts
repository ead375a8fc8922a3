import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { liesInside } from '../src/common/paths';
import type { Inspection, Python } from '../src/server/python';
import { resolveServer, type Surroundings, type Wanted } from '../src/server/resolve';
import { Folder, shell } from './folder';

const python = (name: string): Python => ({ command: [name], executable: name, version: [3, 12, 0], implementation: 'cpython' });

/** Pythons by their paths; all others are missing. What was asked is kept: asking executes it. */
class World implements Surroundings {
  readonly asked: string[] = [];
  readonly launcher = '/extension/bundled/launcher.py';
  selected: string | undefined;
  path: string[][] = [];

  constructor(private readonly pythons: Record<string, Inspection> = {}) {}

  inspect(command: readonly string[]): Promise<Inspection> {
    this.asked.push(command.join(' '));
    return Promise.resolve(this.pythons[command[0] ?? ''] ?? { unusable: 'missing', detail: '' });
  }
  fromPythonExtension(): Promise<string | undefined> {
    return Promise.resolve(this.selected);
  }
  onPath(): string[][] {
    return this.path;
  }
  substitute(command: readonly string[], interpreter: readonly string[] | undefined): string[] {
    return command.flatMap((part) => (part === '${interpreter}' ? (interpreter ?? []) : [part]));
  }
  isProgram(name: string): boolean {
    return name.startsWith('/opt/');
  }
  log(): void {}
}

const wanted: Wanted = { path: [], importStrategy: 'useBundled', interpreter: [], trusted: true, folders: ['/w'] };
const good = (name: string): Inspection => ({ python: python(name) });
const old: Inspection = { unusable: 'too-old', detail: 'cpython 3.8.1' };

test('the bundled server runs isolated, on the interpreter of the Python extension', async () => {
  const world = new World({ '/env/python': good('/env/python') });
  world.selected = '/env/python';
  assert.deepEqual(await resolveServer(wanted, world), {
    server: {
      kind: 'bundled',
      command: ['/env/python', '-I', '-S', '-X', 'utf8', world.launcher],
      python: python('/env/python'),
    },
  });
});

test("the setting wins over the Python extension's choice", async () => {
  const world = new World({ '/a': good('/a'), '/b': good('/b') });
  world.selected = '/b';
  const found = await resolveServer({ ...wanted, interpreter: ['/a'] }, world);
  assert.equal('server' in found && found.server.python?.executable, '/a');
  assert.deepEqual(world.asked, ['/a']);
});

test('an interpreter that was named and cannot be used is a problem, not passed over', async () => {
  const world = new World({ '/old': old, '/good': good('/good') });
  world.path = [['/good']];
  assert.deepEqual(await resolveServer({ ...wanted, interpreter: ['/old'] }, world), {
    problem: { kind: 'unusable-python', interpreter: '/old', why: 'too-old', detail: 'cpython 3.8.1' },
  });
});

test("where the project's Python is too old for the server, another one on the PATH runs it", async () => {
  const world = new World({ '/old': old, '/good': good('/good') });
  world.selected = '/old';
  world.path = [['/none'], ['/good']];
  const found = await resolveServer(wanted, world);
  assert.equal('server' in found && found.server.python?.executable, '/good');
});

test('without any, the problem names what was tried', async () => {
  const world = new World({ '/old': old });
  world.selected = '/old';
  world.path = [['/old3', '-3']];
  assert.deepEqual(await resolveServer(wanted, world), {
    problem: { kind: 'no-python', tried: ['/old (cpython 3.8.1)', '/old3 -3 ()'] },
  });
});

test("fromEnvironment runs the environment's own Loopgrad, with the working folder off its path", async () => {
  const world = new World({ '/env': good('/env') });
  world.selected = '/env';
  const found = await resolveServer({ ...wanted, importStrategy: 'fromEnvironment' }, world);
  assert.ok('server' in found);
  assert.equal(found.server.kind, 'environment');
  assert.deepEqual(found.server.command.slice(0, 4), ['/env', '-X', 'utf8', '-c']);
  assert.match(found.server.command[4] ?? '', /sys\.path\[:\] = \[p for p in sys\.path if p\]/);
});

test('loopgrad.path wins over all, and takes the interpreter if it asks for it', async () => {
  const world = new World({ '/env': good('/env') });
  world.selected = '/env';
  const own = await resolveServer({ ...wanted, path: ['/opt/loopgrad', '--x'] }, world);
  assert.deepEqual(own, { server: { kind: 'path', command: ['/opt/loopgrad', '--x'] } });
  assert.deepEqual(world.asked, []);
  const missing = await resolveServer({ ...wanted, path: ['/nowhere/loopgrad'] }, world);
  assert.deepEqual(missing, { problem: { kind: 'no-program', program: '/nowhere/loopgrad' } });
});

test('without trust nothing of the workspace is executed, not even asked for its version', async () => {
  const world = new World({ '/w/.venv/bin/python': good('/w/.venv/bin/python'), '/usr/python': good('/usr/python') });
  world.selected = '/w/.venv/bin/python';
  world.path = [['/w/bin/python'], ['/usr/python']];
  const untrusted = { ...wanted, trusted: false };
  const found = await resolveServer(untrusted, world);
  assert.equal('server' in found && found.server.python?.executable, '/usr/python');
  assert.deepEqual(world.asked, ['/usr/python']);

  for (const settings of [{ interpreter: ['/w/python'] }, { path: ['/w/loopgrad'] }]) {
    const refused = await resolveServer({ ...untrusted, ...settings }, world);
    assert.equal('problem' in refused && refused.problem.kind, 'in-workspace');
  }
  assert.deepEqual(world.asked, ['/usr/python']);
});

test("without trust the environment's Loopgrad does not run: the bundled one does", async () => {
  const world = new World({ '/usr/python': good('/usr/python') });
  world.path = [['/usr/python']];
  const found = await resolveServer({ ...wanted, trusted: false, importStrategy: 'fromEnvironment' }, world);
  assert.equal('server' in found && found.server.kind, 'bundled');
});

test('a program lies in a folder by its name, by its links, and never by a common beginning', shell, (context) => {
  const folder = new Folder(context);
  const program = folder.program('w/bin/python', '');
  const inside = path.join(folder.path, 'w');
  symlinkSync(program, path.join(folder.path, 'python'));
  assert.ok(liesInside(program, [inside]));
  assert.ok(liesInside(path.join(folder.path, 'python'), [inside]));
  assert.ok(liesInside(path.join(inside, '..', 'w', 'x'), [inside]));
  assert.ok(!liesInside(path.join(folder.path, 'w2', 'python'), [inside]));
  assert.ok(!liesInside(program, []));
});

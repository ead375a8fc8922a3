// Runs as child processes: what they report, and that nothing of them is left.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { EventReader } from '../src/confirm/events';
import { environmentFor, executableOf } from '../src/confirm/facts';
import { end } from '../src/confirm/kill';
import { commandLine, ConfirmRun, type Ending } from '../src/confirm/run';
import { Folder, shell } from './folder';

const options = {
  script: '/w/train.py',
  module: false,
  python: '/env/bin/python',
  device: 'auto',
  steps: 8,
  timeout: 120,
  withFix: true,
  scratchCopy: false,
  language: 'zh-cn',
  args: ['--epochs', '3'],
};

function run(command: readonly string[], cwd: string, said: string[] = [], told: unknown[] = []): ConfirmRun {
  return new ConfirmRun({ command, cwd, env: process.env, output: (text) => said.push(text), progress: (event) => told.push(event) });
}

/** Waits for a file that a program writes, and reads it. */
async function written(file: string): Promise<string> {
  while (!existsSync(file) || !readFileSync(file, 'utf8').endsWith('\n')) await new Promise((resolve) => setTimeout(resolve, 10));
  return readFileSync(file, 'utf8').trim();
}

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
  } catch {
    return false;
  }
  // One that has ended and that nobody has waited for yet is not alive.
  return !/^State:\s+Z/m.test(existsSync('/proc/self') ? readFileSync(`/proc/${pid}/status`, 'utf8') : '');
}

async function gone(pid: string): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('the command line says all that the settings say', () => {
  assert.equal(
    commandLine(options, 17).join(' '),
    'confirm /w/train.py --output-format jsonl --cancel-on-eof --parent-pid 17 --language zh-cn --python /env/bin/python --device auto --steps 8 --timeout 120 --with-fix -- --epochs 3',
  );
  const other = commandLine({ ...options, script: 'pkg.train', module: true, withFix: false, scratchCopy: true, args: [] }, 17);
  assert.deepEqual(other.slice(0, 3), ['confirm', 'pkg.train', '-m']);
  assert.ok(other.includes('--scratch-copy') && !other.includes('--with-fix'));
});

test('the events are told, the result is the report, and the script is heard', shell, async (context) => {
  const folder = new Folder(context);
  const lines = ['{"event": "step", "step": 1, "nodes": 5}', '{"event": "result", "verdict": "clean", "findings": []}'];
  const program = folder.program('loopgrad', `echo "from the script" >&2; pwd >&2; ${lines.map((line) => `echo '${line}'`).join('; ')}; exit 1`);
  const said: string[] = [];
  const told: unknown[] = [];
  const ending = await run([program], folder.path, said, told).ended;
  assert.ok('report' in ending);
  assert.equal(ending.report.verdict, 'clean');
  assert.deepEqual(told, [{ event: 'step', step: 1, nodes: 5 }]);
  assert.equal(said.join(''), `from the script\n${folder.path}\n`);
});

test('without a report, the last thing said is the reason', shell, async (context) => {
  const folder = new Folder(context);
  const program = folder.program('loopgrad', 'echo usage >&2; echo "loopgrad: no such script" >&2; exit 2');
  assert.deepEqual(await run([program], folder.path).ended, { failed: 'loopgrad: no such script' });
  assert.deepEqual(await run([folder.program('silent', 'exit 3')], folder.path).ended, { failed: '3' });
});

test('a program that is not there is a failure, not an exception', async (context) => {
  const folder = new Folder(context);
  const ending = await run([path.join(folder.path, 'none')], folder.path).ended;
  assert.ok('failed' in ending && ending.failed.includes('ENOENT'));
});

test('a cancelled run is asked to end, and has ended when that is over', shell, async (context) => {
  const folder = new Folder(context);
  const program = folder.program(
    'loopgrad',
    `trap 'echo asked > "${folder.path}/asked"; exit 130' TERM; echo $$ > "${folder.path}/pid"; while :; do sleep 0.05; done`,
  );
  const confirming = run([program], folder.path);
  const pid = await written(path.join(folder.path, 'pid'));
  await confirming.cancel();
  assert.deepEqual(await confirming.ended, { cancelled: true } satisfies Ending);
  assert.equal(await written(path.join(folder.path, 'asked')), 'asked');
  await gone(pid);
});

test('what stays behind in its group is ended with it', shell, async (context) => {
  const folder = new Folder(context);
  const program = folder.program(
    'loopgrad',
    `(trap '' TERM; while :; do sleep 0.05; done) & echo $! > "${folder.path}/worker"; trap 'exit 130' TERM; wait`,
  );
  const confirming = run([program], folder.path);
  const worker = await written(path.join(folder.path, 'worker'));
  await confirming.cancel();
  await gone(worker);
});

test('one that does not end when asked is killed with its group', shell, async (context) => {
  const folder = new Folder(context);
  const program = folder.program('deaf', `trap '' TERM; sleep 60 & echo $! > "${folder.path}/worker"; while :; do sleep 0.05; done`);
  const child = spawn(program, { detached: true, stdio: 'ignore' });
  const worker = await written(path.join(folder.path, 'worker'));
  await end(child, 50);
  assert.equal(child.signalCode, 'SIGKILL');
  await gone(worker);
  await end(child, 50);
});

test('a run is cancelled by the end of its input as well', shell, async (context) => {
  const folder = new Folder(context);
  const program = folder.program('loopgrad', `trap '' TERM; echo $$ > "${folder.path}/pid"; cat; echo closed > "${folder.path}/closed"`);
  const confirming = run([program], folder.path);
  await written(path.join(folder.path, 'pid'));
  await confirming.cancel();
  assert.equal(await written(path.join(folder.path, 'closed')), 'closed');
});

test('events are read line by line, however their text is cut; what is none is passed over', () => {
  const text = '{"event": "check"}\nnoise\n{"other": 1}\nnull\n{"event": "start", "phase": "run"}\n{"event": "ch';
  for (const size of [1, 3, 7, 1000]) {
    const reader = new EventReader();
    const found = [];
    for (let index = 0; index < text.length; index += size) found.push(...reader.take(text.slice(index, index + size)));
    assert.deepEqual(found, [{ event: 'check' }, { event: 'start', phase: 'run' }]);
  }
});

test('an interpreter that is called with arguments says where it is', shell, async (context) => {
  const folder = new Folder(context);
  const launcher = folder.program('py', 'echo "$1" > "$0.asked"; echo /the/real/python');
  assert.equal(await executableOf([launcher, '-3'], process.env), '/the/real/python');
  assert.equal(await written(`${launcher}.asked`), '-3');
  assert.equal(await executableOf([folder.program('fails', 'exit 1'), '-3'], process.env), undefined);
  assert.equal(await executableOf([launcher], process.env), launcher);
  assert.equal(await executableOf([path.join(folder.path, 'none')], process.env), undefined);
  assert.equal(await executableOf(['python3'], process.env), 'python3');
});

test("the script's environment has the layers in their order, and nothing of the editor's own", () => {
  const env = environmentFor('/env/bin/python', { A: '1', B: '1', ELECTRON_RUN_AS_NODE: '1', VSCODE_PID: '2', C: undefined }, { B: '2' });
  assert.deepEqual(env, { A: '1', B: '2' });
});

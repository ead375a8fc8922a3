// Runs as child processes: what they report, and that nothing of them is left.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { environmentFor, factsOf } from '../src/confirm/facts';
import { end } from '../src/confirm/kill';
import { readReport } from '../src/confirm/report';
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

function run(command: readonly string[], cwd: string, said: string[] = []): ConfirmRun {
  return new ConfirmRun({ command, cwd, env: process.env, output: (text) => said.push(text) });
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
    commandLine(options).join(' '),
    'confirm /w/train.py --output-format json --language zh-cn --python /env/bin/python --device auto --steps 8 --timeout 120 --with-fix -- --epochs 3',
  );
  const other = commandLine({ ...options, script: 'pkg.train', module: true, withFix: false, scratchCopy: true, args: [] });
  assert.deepEqual(other.slice(0, 3), ['confirm', 'pkg.train', '-m']);
  assert.ok(other.includes('--scratch-copy') && !other.includes('--with-fix'));
});

test('the report is read, and the script heard', shell, async (context) => {
  const folder = new Folder(context);
  const program = folder.program('loopgrad', `echo "from the script" >&2; echo '{"verdict": "clean", "findings": [], "cwd": "'$PWD'"}'; exit 1`);
  const said: string[] = [];
  const ending = await run([program], folder.path, said).ended;
  assert.ok('report' in ending);
  assert.equal(ending.report.verdict, 'clean');
  assert.equal((ending.report as unknown as { cwd: string }).cwd, folder.path);
  assert.equal(said.join(''), 'from the script\n');
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

test('a report is found in what a run has printed, and only there', () => {
  assert.equal(readReport('{"verdict": "clean", "findings": []}\n')?.verdict, 'clean');
  assert.equal(readReport('{"verdict": "clean"'), undefined);
  assert.equal(readReport('{"other": 1}'), undefined);
  assert.equal(readReport(''), undefined);
});

test('an interpreter says where it is and whether it has torch, without importing it', shell, async (context) => {
  const folder = new Folder(context);
  const site = path.dirname(folder.write('site/torch/__init__.py', 'raise SystemExit("imported")\n'));
  const env = { ...process.env, PYTHONPATH: path.dirname(site) };
  const facts = await factsOf(['python3'], env);
  assert.ok(!('error' in facts) && facts.hasTorch && path.isAbsolute(facts.executable));
  const bare = await factsOf(['python3', '-I', '-S'], process.env);
  assert.ok(!('error' in bare) && !bare.hasTorch);
  const missing = await factsOf([path.join(folder.path, 'none')], process.env);
  assert.ok('error' in missing);
});

test("the script's environment has the layers in their order, and nothing of the editor's own", () => {
  const env = environmentFor('/env/bin/python', { A: '1', B: '1', ELECTRON_RUN_AS_NODE: '1', VSCODE_PID: '2', C: undefined }, { B: '2' });
  assert.deepEqual(env, { A: '1', B: '2' });
});

// uv installs for platforms and Pythons other than its own. It is taken from LOOPGRAD_UV or the path; where it is
// not there, pip installs it into build/uv.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const VERSION = '0.13.8';

let found;

/** Runs uv; throws with its words where it fails. */
export function uv(args) {
  found ??= find();
  const run = spawnSync(found, args, { encoding: 'utf8' });
  if (run.error) throw run.error;
  if (run.status !== 0) throw new Error(`uv ${args.slice(0, 2).join(' ')} failed:\n${run.stderr}`);
  return run.stdout;
}

function find() {
  const named = process.env.LOOPGRAD_UV ?? 'uv';
  if (works(named)) return named;
  const folder = path.resolve('build', 'uv');
  const scripts = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const own = path.join(scripts, process.platform === 'win32' ? 'uv.exe' : 'uv');
  if (!existsSync(own)) {
    console.log(`installing uv ${VERSION} into build/uv`);
    execFileSync(python(), ['-m', 'venv', folder], { stdio: 'inherit' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `uv==${VERSION}`];
    execFileSync(path.join(scripts, 'python'), pip, { stdio: ['ignore', 'inherit', 'ignore'] });
  }
  return own;
}

/** The path of a Python, 3.10 or newer. */
export function python() {
  const code = 'import sys; print(sys.executable); sys.exit(sys.version_info < (3, 10))';
  for (const name of [process.env.LOOPGRAD_PYTHON, 'python3', 'python'].filter(Boolean)) {
    const run = spawnSync(name, ['-c', code], { encoding: 'utf8' });
    if (run.status === 0) return run.stdout.trim();
  }
  throw new Error('packaging needs Python 3.10 or newer (LOOPGRAD_PYTHON names one)');
}

function works(command) {
  return spawnSync(command, ['--version']).status === 0;
}

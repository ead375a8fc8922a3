// The Python side of a VSIX: the server, and what it imports for every supported Python on one platform.
//
// Native modules carry the Python's version in their names, so that the packages for all versions can lie in one
// folder. Darwin's names carry no architecture, and musl's and glibc's are the same on 3.10: one folder per target.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { PYTHONS, TARGETS } from './targets.mjs';
import { uv } from './uv.mjs';

/** Writes `bundled` into the staging folder; `work` is for what is on the way there. */
export function bundle(target, stage, work) {
  cpSync('bundled/launcher.py', path.join(stage, 'launcher.py'));
  cpSync('server/loopgrad', path.join(stage, 'server', 'loopgrad'), { recursive: true, filter: isServer });
  for (const version of PYTHONS) {
    const folder = path.join(work, version);
    rmSync(folder, { recursive: true, force: true });
    uv([
      'pip', 'install', '--target', folder, '--python-platform', TARGETS[target].platform, '--python-version', version,
      '--only-binary', ':all:', '--no-deps', '--require-hashes', '--link-mode', 'copy', '-r', 'tools/vsix/requirements.txt',
    ]);
    merge(folder, path.join(stage, 'libs'));
  }
}

function isServer(source) {
  return !/(__pycache__|\.(mypy|ruff)_cache)$|\.pyc$/.test(source);
}

/** Adds what one Python needs. A file that is there already has to be the same: it serves all of them. */
function merge(from, to) {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const source = path.join(entry.parentPath, entry.name);
    const inside = path.relative(from, source).split(path.sep).join('/');
    if (!entry.isFile() || !isNeeded(inside)) continue;
    const copy = path.join(to, inside);
    if (!existsSync(copy)) {
      mkdirSync(path.dirname(copy), { recursive: true });
      cpSync(source, copy);
    } else if (!readFileSync(copy).equals(readFileSync(source))) {
      throw new Error(`${inside} differs between the supported Pythons`);
    }
  }
}

/** Packages' code and licences, without their tests, type stubs and command lines (libcst's is `codemod`). */
function isNeeded(inside) {
  const [top, ...rest] = inside.split('/');
  if (top.endsWith('.dist-info')) {
    return rest[0] === 'licenses' || /^(LICEN[CS]E|COPYING|NOTICE)/i.test(rest[0]);
  }
  if (top === 'bin' || top.startsWith('.') || (rest.length === 0 && !top.endsWith('.py'))) return false;
  if (/^libcst\/(codemod\/|tool\.py$)/.test(inside) || /\.(pyi|typed)$/.test(inside)) return false;
  return !rest.some((part) => part === 'tests' || part === '__pycache__');
}

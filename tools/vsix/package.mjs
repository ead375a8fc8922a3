// `npm run package`: makes a VSIX that carries the server and all that it imports.
//
//   npm run package                                   for this machine
//   npm run package -- --target all                   for every platform (or a list: linux-x64,win32-x64)
//   npm run package -- --out DIR                      where the files go (default: dist)

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { bundle } from './bundle.mjs';
import { notices } from './notices.mjs';
import { start } from './startup.mjs';
import { here, targets } from './targets.mjs';
import { python } from './uv.mjs';

// What the extension itself is made of; the rest of the repository stays out.
const FILES = ['package.json', 'package.nls.json', 'package.nls.zh-cn.json', 'CHANGELOG.md', 'LICENSE'];
const FOLDERS = ['client/media', 'l10n'];
const STARTS = 7;

const { values } = parseArgs({
  options: { target: { type: 'string' }, out: { type: 'string', default: 'dist' } },
});
const out = path.resolve(values.out);
process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

mkdirSync('build', { recursive: true });
mkdirSync(out, { recursive: true });
// A folder of its own: several may be at it at once.
const build = mkdtempSync(path.resolve('build', 'vsix-'));
try {
  const code = path.join(build, 'code');
  run('client/esbuild.mjs', '--production', `--out=${code}`, `--metafile=${path.join(build, 'inputs.json')}`);
  for (const target of targets(values.target)) await pack(target, code);
} finally {
  rmSync(build, { recursive: true, force: true });
}

async function pack(target, code) {
  const stage = path.join(build, target, 'extension');
  mkdirSync(stage, { recursive: true });
  for (const name of FILES) cpSync(name, path.join(stage, name));
  for (const name of FOLDERS) if (existsSync(name)) cpSync(name, path.join(stage, name), { recursive: true });
  // Paragraphs with pictures are left out: an extension's page loads none from its folder.
  const paragraphs = readFileSync('README.md', 'utf8').split(/\n{2,}/);
  const readme = paragraphs.filter((each) => !each.includes('](docs/images/')).join('\n\n');
  writeFileSync(path.join(stage, 'README.md'), readme);
  cpSync(code, path.join(stage, 'client', 'dist'), { recursive: true });
  writeFileSync(path.join(stage, 'package.json'), JSON.stringify(manifest(), undefined, 2));
  writeFileSync(path.join(stage, 'NOTICES.txt'), notices(path.join(build, 'inputs.json')));
  bundle(target, path.join(stage, 'bundled'), path.join(build, target, 'packages'));

  const file = path.join(out, `loopgrad-${target}-${manifest().version}.vsix`);
  const options = ['--no-dependencies', '--no-rewrite-relative-links', '--target', target, '--out', file];
  run(path.resolve('node_modules/@vscode/vsce/vsce'), 'package', ...options, { cwd: stage });
  console.log(`${path.relative('.', file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  if (target === here) await time(path.join(stage, 'bundled', 'launcher.py'));
}

/** The manifest as it is shipped: without what building needs. */
function manifest() {
  const { scripts, devDependencies, ...rest } = JSON.parse(readFileSync('package.json', 'utf8'));
  return rest;
}

/** Prints how long the packaged server takes to answer, the first time and then as a rule. */
async function time(launcher) {
  const took = [];
  for (let index = 0; index < STARTS; index++) took.push((await start(python(), launcher)).took);
  const [first, ...later] = took;
  const median = later.sort((a, b) => a - b)[Math.floor(later.length / 2)];
  console.log(`the server answers after ${median.toFixed(0)} ms (the first time ${first.toFixed(0)} ms)`);
}

/** Runs a script with this Node; shows its output only where it fails. */
function run(script, ...args) {
  const options = typeof args.at(-1) === 'object' ? args.pop() : {};
  try {
    execFileSync(process.execPath, [script, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  } catch (error) {
    throw new Error(`${path.basename(script)} failed:\n${error.stdout}${error.stderr}`);
  }
}

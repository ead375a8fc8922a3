// Builds the extension and its panel into client/dist; with --tests, the tests into build/client-test.
// --out=DIR builds into another folder, --metafile=FILE also writes down which files went in.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

import esbuild from 'esbuild';

const flags = new Set(process.argv.slice(2));
const production = flags.has('--production');
const metafile = valueOf('--metafile=');
const out = valueOf('--out=') ?? 'client/dist';

function valueOf(flag) {
  return process.argv.find((each) => each.startsWith(flag))?.slice(flag.length);
}

/** What runs in the extension host: the oldest one that the manifest allows has Node 20. */
const node = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  logLevel: 'warning',
};

const extension = {
  ...node,
  entryPoints: ['client/src/extension.ts'],
  outfile: path.join(out, 'extension.js'),
  external: ['vscode'],
  minify: production,
  sourcemap: production ? false : 'linked',
  // Prefer the packages' ES modules, so that what nobody uses is left out.
  mainFields: ['module', 'main'],
};

const panel = {
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
  logLevel: 'warning',
  entryPoints: ['client/webview/panel.ts'],
  outfile: path.join(out, 'panel.js'),
  minify: production,
};

function tests() {
  const folder = 'client/test';
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  rmSync('build/client-test', { recursive: true, force: true });
  return {
    ...node,
    entryPoints: files.map((name) => path.join(folder, name)),
    outdir: 'build/client-test',
    outExtension: { '.js': '.cjs' },
    sourcemap: 'inline',
    external: ['typescript'],
  };
}

if (flags.has('--tests')) {
  await esbuild.build(tests());
} else if (flags.has('--watch')) {
  for (const options of [extension, panel]) {
    const context = await esbuild.context({ ...options, logLevel: 'info' });
    await context.watch();
  }
} else {
  rmSync(out, { recursive: true, force: true });
  const made = await Promise.all([extension, panel].map((options) => esbuild.build({ ...options, metafile: true })));
  if (metafile) {
    mkdirSync(path.dirname(metafile), { recursive: true });
    writeFileSync(metafile, JSON.stringify({ inputs: Object.assign({}, ...made.map((one) => one.metafile.inputs)) }));
  }
}

// The licences of the packages that esbuild has put into the extension's own files.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The text of NOTICES.txt, from esbuild's list of what it read. Throws for a package without a licence file. */
export function notices(metafile) {
  const { inputs } = JSON.parse(readFileSync(metafile, 'utf8'));
  const folders = new Set();
  for (const input of Object.keys(inputs)) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) folders.add(found[1]);
  }
  const parts = [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const licence = readdirSync(folder).find((file) => /^(licen[cs]e|license-mit)(\.|$)/i.test(file));
    if (!licence || !existsSync(path.join(folder, licence))) throw new Error(`${folder} has no licence file`);
    return `${name} ${version}\n\n${readFileSync(path.join(folder, licence), 'utf8').trim()}\n`;
  });
  const intro = 'The extension contains parts of the packages below. The licences of the Python packages that it\n' +
    'carries are in bundled/libs, in the folders *.dist-info.\n';
  return [intro, ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

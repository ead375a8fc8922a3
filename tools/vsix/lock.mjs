// Pins what the packaged server imports, with hashes: `npm run lock-server`. Run from the repository's root.

import { uv } from './uv.mjs';

uv([
  'pip', 'compile', '--universal', '--python-version', '3.10', '--no-python-downloads', '--upgrade',
  '--generate-hashes', '--no-emit-index-url', '--custom-compile-command', 'npm run lock-server',
  '--excludes', 'tools/vsix/excludes.txt', 'tools/vsix/requirements.in', '-o', 'tools/vsix/requirements.txt',
]);

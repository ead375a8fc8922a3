// A folder for a test's files, gone afterwards.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

export class Folder {
  readonly path = realpathSync(mkdtempSync(path.join(tmpdir(), 'loopgrad-test-')));

  constructor(context: TestContext) {
    context.after(() => rmSync(this.path, { recursive: true, force: true }));
  }

  write(name: string, text: string): string {
    const file = path.join(this.path, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** A program: a shell script. */
  program(name: string, script: string): string {
    const file = this.write(name, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }
}

/** Tests that need programs of their own write them for a shell. */
export const shell = { skip: process.platform === 'win32' && 'the programs are shell scripts' };

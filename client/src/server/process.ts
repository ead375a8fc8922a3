// The server's process, and what it last said on its standard error.

import { type ChildProcess, spawn } from 'node:child_process';

const REMEMBERED = 4_000;

export interface Started {
  readonly process: ChildProcess;
  /** The end of its standard error: what to tell where it does not start. */
  said(): string;
  /** Ends with how it ended: `exit code 2`, `SIGKILL`. */
  readonly ended: Promise<string>;
}

/**
 * Starts a server; fails where the program cannot be run. The folder is none of the workspace: on Windows the server
 * would hold it, and programs are looked for in it.
 */
export function start(command: readonly string[], args: readonly string[], cwd: string): Promise<Started> {
  const [program = '', ...first] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...first, ...args], { cwd, stdio: 'pipe', windowsHide: true });
    let tail = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-REMEMBERED)));
    // Writing to a server that has just ended is no error of ours.
    child.stdin.on('error', () => undefined);
    const ended = new Promise<string>((tell) => {
      child.once('exit', (code, signal) => tell(signal ?? `exit code ${code}`));
    });
    child.once('error', reject);
    child.once('spawn', () => resolve({ process: child, said: () => tail.trim(), ended }));
  });
}

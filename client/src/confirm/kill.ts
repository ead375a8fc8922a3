// Ending a process with all that it has started.

import { type ChildProcess, execFile } from 'node:child_process';

/** `loopgrad confirm` ends its script and that one's workers by itself; this is what it may take, in milliseconds. */
export const PATIENCE = 8_000;

/**
 * Asks a process to end, by closing its standard input and with SIGTERM where there is such a thing, and kills it
 * with all that is left if it does not. It has to be the leader of its group (`detached`).
 */
export async function end(child: ChildProcess, patience = PATIENCE): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const { pid } = child;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin?.end();
  if (process.platform !== 'win32') child.kill('SIGTERM');
  const timer = setTimeout(() => killAll(pid), patience);
  await ended;
  clearTimeout(timer);
  // What stayed behind in the group: the leader has gone, so nobody ends it any more.
  if (process.platform !== 'win32') killAll(pid);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function killAll(leader: number): void {
  if (process.platform === 'win32') {
    execFile('taskkill', ['/PID', String(leader), '/T', '/F'], { windowsHide: true }, () => undefined);
    return;
  }
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It is empty.
  }
}

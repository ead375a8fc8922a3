// Ending a process with all that it has started.

import { type ChildProcess, execFile } from 'node:child_process';

/** `loopgrad confirm` ends its script and that one's workers by itself; this is what it may take, in milliseconds. */
export const PATIENCE = 8_000;

/**
 * Asks a process to end, and kills its group if it does not. It has to be the leader of its group (`detached`).
 * On Windows there is nothing to ask with: its tree is ended at once.
 */
export async function end(child: ChildProcess, patience = PATIENCE): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (process.platform === 'win32') {
    await taskkill(child.pid);
    await ended;
    return;
  }
  child.kill('SIGTERM');
  const timer = setTimeout(() => killGroup(child.pid!), patience);
  await ended;
  clearTimeout(timer);
  // What stayed behind in the group: the leader has gone, so nobody ends it any more.
  killGroup(child.pid);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It is empty.
  }
}

function taskkill(pid: number): Promise<void> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, () => resolve());
  });
}

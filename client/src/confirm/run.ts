// Running `loopgrad confirm` as a child process.

import { type ChildProcess, spawn } from 'node:child_process';

import { type Event, EventReader } from './events';
import { end } from './kill';
import type { Report } from './report';

export interface Options {
  /** A file's path, or with `module` a module's name. */
  readonly script: string;
  readonly module: boolean;
  readonly python: string;
  readonly device: string;
  readonly steps: number;
  readonly timeout: number;
  readonly withFix: boolean;
  readonly scratchCopy: boolean;
  readonly language: string;
  readonly args: readonly string[];
}

/**
 * The command line behind `loopgrad`. A process with torch loaded is kept for the next run, and ends with `parent`;
 * the run itself is cancelled when its standard input is closed, as it is when the editor dies.
 */
export function commandLine(options: Options, parent: number): string[] {
  return [
    'confirm',
    options.script,
    ...(options.module ? ['-m'] : []),
    '--output-format',
    'jsonl',
    '--cancel-on-eof',
    '--parent-pid',
    String(parent),
    '--language',
    options.language,
    '--python',
    options.python,
    '--device',
    options.device,
    '--steps',
    String(options.steps),
    '--timeout',
    String(options.timeout),
    ...(options.withFix ? ['--with-fix'] : []),
    ...(options.scratchCopy ? ['--scratch-copy'] : []),
    '--',
    ...options.args,
  ];
}

export interface Job {
  /** Loopgrad's own command, then its command line. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the script prints, and what Loopgrad says besides the report. */
  output(text: string): void;
  /** How it goes on; the result is not among these. */
  progress(event: Event): void;
}

export type Ending =
  | { readonly report: Report }
  | { readonly cancelled: true }
  /** No report: bad usage, or a failure of Loopgrad's own. */
  | { readonly failed: string };

const REMEMBERED = 4_000;

/** A run in progress. */
export class ConfirmRun {
  readonly ended: Promise<Ending>;
  private readonly child: ChildProcess;
  private cancelling: Promise<void> | undefined;

  constructor(job: Job) {
    const [program = '', ...args] = job.command;
    const child = spawn(program, args, {
      cwd: job.cwd,
      env: job.env,
      stdio: 'pipe',
      // A group of its own, so that it can be ended with all that it starts.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.child = child;
    const reader = new EventReader();
    let report: Report | undefined;
    let said = '';
    child.stdin.on('error', () => undefined); // it ended before its input was closed
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const event of reader.take(text)) {
        if (event.event === 'result') report = event;
        else job.progress(event);
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-REMEMBERED);
      job.output(text);
    });
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve({ failed: error.message }));
      child.once('close', (code, signal) => {
        if (this.cancelling) return resolve({ cancelled: true });
        resolve(report ? { report } : { failed: said.trim().split('\n').pop() || `${signal ?? code}` });
      });
    });
  }

  /** Ends it with all that it has started. */
  cancel(): Promise<void> {
    this.cancelling ??= end(this.child);
    return this.cancelling;
  }
}

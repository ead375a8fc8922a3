// Pythons: where they are, and what they say of themselves.

import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The server runs on CPython from `OLDEST` to before `TOO_NEW`: for those it carries its packages. */
export const OLDEST = [3, 10] as const;
export const TOO_NEW = [3, 15] as const;

export interface Python {
  /** How it is called: the program and arguments that come first (`py -3`). */
  readonly command: readonly string[];
  readonly executable: string;
  readonly version: readonly [number, number, number];
  readonly implementation: string;
}

export type Unusable = 'missing' | 'failed' | 'too-old' | 'too-new' | 'other-implementation';

/** `unusable` says why it cannot run the server; `detail` is what it printed, or its version. */
export type Inspection = { readonly python: Python } | { readonly unusable: Unusable; readonly detail: string };

// The oldest Pythons have to understand this.
const QUESTION =
  'import sys, json; print(json.dumps([list(sys.version_info[:3]), sys.executable, sys.implementation.name]))';
const PATIENCE = 15_000;

/** Asks a Python for its version, with nothing of its environment or of the working folder loaded. */
export async function inspect(command: readonly string[]): Promise<Inspection> {
  const [program, ...first] = command;
  if (!program) return { unusable: 'missing', detail: '' };
  const answer = await output(program, [...first, '-I', '-S', '-c', QUESTION]);
  if ('error' in answer) return { unusable: answer.missing ? 'missing' : 'failed', detail: answer.error };
  let read: unknown;
  try {
    read = JSON.parse(answer.text.trim().split('\n').pop() ?? '');
  } catch {
    return { unusable: 'failed', detail: answer.text.trim().slice(0, 500) };
  }
  const [version, executable, implementation] = read as [[number, number, number], string, string];
  const python: Python = { command, executable: executable || program, version, implementation };
  const unusable = whyUnusable(python);
  return unusable ? { unusable, detail: `${implementation} ${version.join('.')}` } : { python };
}

export function whyUnusable(python: Python): Unusable | undefined {
  const [major, minor] = python.version;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) return 'too-old';
  if (major > TOO_NEW[0] || (major === TOO_NEW[0] && minor >= TOO_NEW[1])) return 'too-new';
  if (python.implementation !== 'cpython') return 'other-implementation';
  return undefined;
}

/**
 * Pythons on the PATH, the best first. Entries that are not absolute are passed over: they would name programs of
 * the folder that happens to be the working one.
 */
export function onPath(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string[][] {
  const variable = platform === 'win32' ? (environment['Path'] ?? environment['PATH']) : environment['PATH'];
  const folders = (variable ?? '').split(platform === 'win32' ? ';' : ':').filter((part) => path.isAbsolute(part));
  const found: string[][] = [];
  for (const name of ['python3', 'python', ...newestFirst()]) {
    found.push(...inFolders(folders, platform === 'win32' ? `${name}.exe` : name).map((program) => [program]));
  }
  if (platform === 'win32') {
    found.push(...inFolders(folders, 'py.exe').map((program) => [program, '-3']));
  }
  return found;
}

function newestFirst(): string[] {
  const names: string[] = [];
  for (let minor = TOO_NEW[1] - 1; minor >= OLDEST[1]; minor -= 1) names.push(`python3.${minor}`);
  return names;
}

function inFolders(folders: readonly string[], name: string): string[] {
  return folders.map((folder) => path.join(folder, name)).filter(isProgram);
}

export function isProgram(name: string): boolean {
  try {
    accessSync(name, constants.X_OK);
    return statSync(name).isFile();
  } catch {
    return false;
  }
}

type Output = { readonly text: string } | { readonly error: string; readonly missing: boolean };

function output(program: string, args: readonly string[]): Promise<Output> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE, windowsHide: true }, (error, stdout, stderr) => {
      if (!error) return resolve({ text: stdout });
      const missing = error.code !== undefined && ['ENOENT', 'EACCES', 'ENOTDIR'].includes(String(error.code));
      resolve({ error: (stderr.trim() || error.message).slice(0, 500), missing });
    });
  });
}

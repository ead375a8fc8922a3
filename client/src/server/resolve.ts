// What to start as the server: decided from the settings, the Python extension and the PATH.

import { liesInside } from '../common/paths';
import type { Inspection, Python, Unusable } from './python';

export interface Wanted {
  /** `loopgrad.path`, with its variables still in it. */
  readonly path: readonly string[];
  readonly importStrategy: 'useBundled' | 'fromEnvironment';
  /** `loopgrad.interpreter`, with its variables replaced. */
  readonly interpreter: readonly string[];
  readonly trusted: boolean;
  readonly folders: readonly string[];
}

export interface Surroundings {
  inspect(command: readonly string[]): Promise<Inspection>;
  /** The interpreter that the Python extension has for this window, where it is there. */
  fromPythonExtension(): Promise<string | undefined>;
  onPath(): readonly (readonly string[])[];
  substitute(command: readonly string[], interpreter: readonly string[] | undefined): string[];
  isProgram(name: string): boolean;
  /** Starts the server that the extension carries; a checkout's own where it carries none. */
  readonly launcher: string;
  log(text: string): void;
}

export interface Server {
  readonly kind: 'path' | 'bundled' | 'environment';
  /** A Loopgrad command line follows: `server`, `confirm …`. */
  readonly command: readonly string[];
  readonly python?: Python;
}

export type Problem =
  | { readonly kind: 'no-python'; readonly tried: readonly string[] }
  | { readonly kind: 'unusable-python'; readonly interpreter: string; readonly why: Unusable; readonly detail: string }
  | { readonly kind: 'in-workspace'; readonly program: string }
  | { readonly kind: 'no-program'; readonly program: string };

export type Resolution = { readonly server: Server } | { readonly problem: Problem };

/** Isolated (no user's packages, no environment variables) and without `site` (no `.pth` files are executed). */
const ISOLATED = ['-I', '-S', '-X', 'utf8'] as const;

/** Runs an installed Loopgrad without the working folder on its path, as `-P` does from Python 3.11 on. */
const INSTALLED =
  'import sys; sys.path[:] = [p for p in sys.path if p]; from loopgrad.cli import main; sys.exit(main())';

export async function resolveServer(wanted: Wanted, around: Surroundings): Promise<Resolution> {
  if (wanted.path.length > 0) return own(wanted, around);
  const found = await findPython(wanted, around);
  if ('problem' in found) return found;
  const { python } = found;
  if (wanted.importStrategy === 'fromEnvironment' && wanted.trusted) {
    return { server: { kind: 'environment', command: [...python.command, '-X', 'utf8', '-c', INSTALLED], python } };
  }
  return { server: { kind: 'bundled', command: [...python.command, ...ISOLATED, around.launcher], python } };
}

async function own(wanted: Wanted, around: Surroundings): Promise<Resolution> {
  let python: Python | undefined;
  if (wanted.path.some((part) => part.includes('${interpreter}'))) {
    const found = await findPython(wanted, around);
    if ('problem' in found) return found;
    python = found.python;
  }
  const command = around.substitute(wanted.path, python?.command);
  const program = command[0] ?? '';
  if (!wanted.trusted && liesInside(program, wanted.folders)) return { problem: { kind: 'in-workspace', program } };
  if (!around.isProgram(program)) return { problem: { kind: 'no-program', program } };
  return { server: { kind: 'path', command, ...(python && { python }) } };
}

type Found = { readonly python: Python } | { readonly problem: Problem };

/**
 * The interpreter that the user has named, else the Python extension's, else one on the PATH. One that was named is
 * never passed over in silence; one that the project uses may be too old to run the server, and then another does.
 */
export async function findPython(wanted: Wanted, around: Surroundings): Promise<Found> {
  const { interpreter, trusted, folders } = wanted;
  if (interpreter.length > 0) {
    const program = interpreter[0] ?? '';
    if (!trusted && liesInside(program, folders)) return { problem: { kind: 'in-workspace', program } };
    return named(interpreter, await around.inspect(interpreter));
  }
  const tried: string[] = [];
  const selected = trusted ? await around.fromPythonExtension() : undefined;
  if (selected) {
    const inspection = await around.inspect([selected]);
    if ('python' in inspection || wanted.importStrategy === 'fromEnvironment') return named([selected], inspection);
    around.log(`${selected}: ${inspection.unusable} (${inspection.detail})`);
    tried.push(`${selected} (${inspection.detail})`);
  }
  for (const command of around.onPath()) {
    if (!trusted && liesInside(command[0] ?? '', folders)) continue;
    const inspection = await around.inspect(command);
    if ('python' in inspection) return inspection;
    around.log(`${command.join(' ')}: ${inspection.unusable} (${inspection.detail})`);
    tried.push(`${command.join(' ')} (${inspection.detail})`);
  }
  return { problem: { kind: 'no-python', tried } };
}

function named(command: readonly string[], inspection: Inspection): Found {
  if ('python' in inspection) return inspection;
  const interpreter = command.join(' ');
  return { problem: { kind: 'unusable-python', interpreter, why: inspection.unusable, detail: inspection.detail } };
}

// Questions about paths that decide what may be run.

import { realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * Whether a program lies in one of these folders, as it is named or where its links lead. In a workspace that is not
 * trusted such a program is the workspace's, and is not run.
 */
export function liesInside(program: string, folders: readonly string[]): boolean {
  const names = [path.resolve(program), real(path.resolve(program))];
  const roots = folders.flatMap((folder) => [path.resolve(folder), real(path.resolve(folder))]);
  return names.some((name) => roots.some((root) => isBelow(name, root)));
}

export function isBelow(name: string, folder: string): boolean {
  const relative = path.relative(folder, name);
  return relative === '' || (!relative.startsWith('..' + path.sep) && relative !== '..' && !path.isAbsolute(relative));
}

/** Whether two paths name the same file. */
export function isSameFile(one: string, other: string): boolean {
  return real(path.resolve(one)) === real(path.resolve(other));
}

function real(name: string): string {
  try {
    return realpathSync.native(name);
  } catch {
    return name; // it is not there
  }
}

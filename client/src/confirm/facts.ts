// What has to be known of an interpreter before a script is run with it.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

export interface Facts {
  readonly executable: string;
  readonly hasTorch: boolean;
}

/** Looks for torch as an import would, without importing it. */
const QUESTION =
  'import sys; sys.path[:] = [p for p in sys.path if p]\n' +
  'import json, importlib.util as u; print(json.dumps([sys.executable, u.find_spec("torch") is not None]))';

export function factsOf(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Facts | { readonly error: string }> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    execFile(program, [...args, '-c', QUESTION], { env, timeout: 60_000, windowsHide: true }, (error, stdout, stderr) => {
      if (error) return resolve({ error: stderr.trim().split('\n').pop() || error.message });
      try {
        const [executable, hasTorch] = JSON.parse(stdout.trim().split('\n').pop() ?? '') as [string, boolean];
        resolve({ executable: executable || program, hasTorch });
      } catch {
        resolve({ error: stdout.trim().slice(0, 200) });
      }
    });
  });
}

/**
 * The environment for a script. Of VS Code's own variables none is passed on that would change what the script
 * starts; conda's Python on Windows finds its libraries by the PATH alone.
 */
export function environmentFor(
  python: string,
  ...layers: readonly Readonly<Record<string, string | undefined>>[]
): Record<string, string | undefined> {
  const env = Object.fromEntries(layers.flatMap((layer) => Object.entries(layer)));
  for (const name of Object.keys(env)) {
    if (/^(ELECTRON_|VSCODE_)/.test(name) || env[name] === undefined) delete env[name];
  }
  const home = path.dirname(python);
  if (process.platform === 'win32' && existsSync(path.join(home, 'conda-meta'))) {
    const name = Object.keys(env).find((each) => each.toUpperCase() === 'PATH') ?? 'PATH';
    const own = [home, path.join(home, 'Library', 'bin'), path.join(home, 'Scripts')];
    env[name] = [...own, env[name]].filter(Boolean).join(path.delimiter);
  }
  return env;
}

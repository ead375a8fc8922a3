// The interpreter and the environment that a script runs with.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The path of an interpreter that is called with arguments of its own, as `py -3` is; undefined if it cannot be run. */
export function executableOf(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const [program, ...args] = command;
  if (program === undefined || args.length === 0) {
    const missing = program !== undefined && path.isAbsolute(program) && !existsSync(program);
    return Promise.resolve(missing ? undefined : program);
  }
  const question = ['-I', '-c', 'import sys; print(sys.executable)'];
  return new Promise((resolve) => {
    execFile(program, [...args, ...question], { env, timeout: 30_000, windowsHide: true }, (error, stdout) => {
      resolve(error ? undefined : stdout.trim() || program);
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

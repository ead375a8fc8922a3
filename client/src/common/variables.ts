// Variables in settings: ${workspaceFolder}, ${workspaceFolder:name}, ${userHome}, ${env:NAME}, ${interpreter}.

import path from 'node:path';

export interface Variables {
  /** The folder that the setting belongs to; none in a window without one. */
  readonly workspaceFolder?: string | undefined;
  /** All folders, by their names. */
  readonly folders?: ReadonlyMap<string, string> | undefined;
  readonly userHome: string;
  /** The file that a debug configuration would run; only its variables may use it. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The interpreter's command and arguments; only `loopgrad.path` may use it. */
  readonly interpreter?: readonly string[] | undefined;
}

const VARIABLE = /\$\{([^}]*)\}/g;

/** The text with its variables replaced. What is not known is left as it stands: it shows up in the message. */
export function substitute(text: string, variables: Variables): string {
  return text.replace(VARIABLE, (whole, name: string) => valueOf(name, variables) ?? whole);
}

/** A command with its variables replaced; an element `${interpreter}` becomes all of the interpreter's. */
export function substituteCommand(command: readonly string[], variables: Variables): string[] {
  return command.flatMap((part) =>
    part === '${interpreter}' && variables.interpreter ? variables.interpreter : [substitute(part, variables)],
  );
}

/** A program that is named by a relative path lies in the folder; a bare name is looked up on the PATH. */
export function anchored(command: readonly string[], folder: string | undefined): string[] {
  const [program, ...rest] = command;
  if (program === undefined) return [];
  const relative = /[\\/]/.test(program) && !path.isAbsolute(program);
  return [relative && folder !== undefined ? path.resolve(folder, program) : program, ...rest];
}

/** Whether nothing in the text is left for an editor to ask the user or another extension for. */
export function isSettled(text: string): boolean {
  return !/\$\{[^}]*\}/.test(text);
}

export function substituteValues(
  values: Readonly<Record<string, string>>,
  variables: Variables,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, substitute(value, variables)]));
}

function valueOf(name: string, variables: Variables): string | undefined {
  if (name === 'workspaceFolder' || name === 'workspaceRoot') return variables.workspaceFolder;
  if (name === 'userHome') return variables.userHome;
  if (name === 'interpreter') return variables.interpreter?.[0];
  // As in VS Code, a variable that is not set is empty.
  if (name.startsWith('env:')) return variables.environment[name.slice('env:'.length)] ?? '';
  if (name.startsWith('workspaceFolder:')) return variables.folders?.get(name.slice('workspaceFolder:'.length));
  return variables.file === undefined ? undefined : valueOfFile(name, variables.file, variables.workspaceFolder);
}

function valueOfFile(name: string, file: string, folder = path.dirname(file)): string | undefined {
  const { base, dir, ext, name: stem } = path.parse(file);
  const values: Record<string, string> = {
    file,
    fileBasename: base,
    fileBasenameNoExtension: stem,
    fileDirname: dir,
    fileExtname: ext,
    relativeFile: path.relative(folder, file),
    relativeFileDirname: path.relative(folder, dir) || '.',
    fileWorkspaceFolder: folder,
    cwd: folder,
    pathSeparator: path.sep,
    '/': path.sep,
  };
  return values[name];
}

// Variables in settings: ${workspaceFolder}, ${workspaceFolder:name}, ${userHome}, ${env:NAME}, ${interpreter}.

export interface Variables {
  /** The folder that the setting belongs to; none in a window without one. */
  readonly workspaceFolder?: string | undefined;
  /** All folders, by their names. */
  readonly folders?: ReadonlyMap<string, string> | undefined;
  readonly userHome: string;
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
  return undefined;
}

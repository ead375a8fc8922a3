// The debug configuration in launch.json that runs a script: its arguments, folder, environment and interpreter.

import path from 'node:path';

import { isSameFile } from '../common/paths';
import { isSettled, substitute, substituteValues, type Variables } from '../common/variables';

/** The part of a Python debug configuration that matters here, as it may stand in the file: unchecked. */
export interface DebugConfiguration {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly request?: unknown;
  readonly program?: unknown;
  readonly module?: unknown;
  readonly args?: unknown;
  readonly cwd?: unknown;
  readonly env?: unknown;
  readonly envFile?: unknown;
  readonly python?: unknown;
  readonly pythonPath?: unknown;
}

export interface Launch {
  readonly name: string;
  /** It names this very script, not whichever file is open. */
  readonly exact: boolean;
  readonly module?: string | undefined;
  readonly args: readonly string[];
  /** Arguments that only the debugger can ask the user for, as they stand in the file. */
  readonly unsettled: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly envFile?: string | undefined;
  readonly python?: readonly string[] | undefined;
}

const TYPES = ['debugpy', 'python'];

/** The configurations that run the script, those that name it before those that run the open file. */
export function launchesOf(configurations: readonly unknown[], script: string, variables: Variables): Launch[] {
  const all = configurations
    .filter((each): each is DebugConfiguration => typeof each === 'object' && each !== null)
    .filter((each) => TYPES.includes(String(each.type)) && each.request === 'launch')
    .flatMap((each) => launchOf(each, script, { ...variables, file: script }) ?? []);
  return [...all.filter((each) => each.exact), ...all.filter((each) => !each.exact)];
}

function launchOf(configuration: DebugConfiguration, script: string, variables: Variables): Launch | undefined {
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value ? substitute(value, variables) : undefined);
  const folder = variables.workspaceFolder ?? path.dirname(script);
  const cwd = text(configuration.cwd);
  const module = text(configuration.module);
  const program = text(configuration.program);
  const runs = module !== undefined ? isModule(module, cwd ?? folder, script) : program !== undefined && isSameFile(path.resolve(folder, program), script);
  if (!runs) return undefined;
  const args = argumentsOf(configuration.args).map((each) => substitute(each, variables));
  const python = configuration.python ?? configuration.pythonPath;
  const command = (Array.isArray(python) ? python : [python]).flatMap((each) => text(each) ?? []);
  return {
    name: typeof configuration.name === 'string' ? configuration.name : '',
    exact: module !== undefined || !String(configuration.program).includes('${file'),
    module,
    args: args.filter(isSettled),
    unsettled: args.filter((each) => !isSettled(each)),
    cwd,
    env: substituteValues(stringsOf(configuration.env), variables),
    envFile: text(configuration.envFile),
    python: command.length > 0 && command.every(isSettled) ? command : undefined,
  };
}

function isModule(module: string, folder: string, script: string): boolean {
  const base = path.join(folder, ...module.split('.'));
  return [`${base}.py`, path.join(base, '__main__.py')].some((each) => isSameFile(each, script));
}

/** debugpy takes a list, or one string that it splits as a shell does. */
function argumentsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? splitWords(value) : [];
}

/** Words as in a POSIX shell: separated by blanks, quoted by ' and ", with \ before a single character. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index]!;
    if (quote && character === quote) {
      quote = '';
    } else if (!quote && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (character === '\\' && quote !== "'" && index + 1 < line.length) {
      index += 1;
      word = (word ?? '') + line[index]!;
    } else if (!quote && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  return word === undefined ? words : [...words, word];
}

function stringsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)]));
}

/** The variables of an environment file: `NAME=value`, quotes around the value, `#` for remarks. */
export function readEnvironmentFile(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line);
    if (!match) continue;
    const value = match[2]!;
    const quoted = /^(["'])(.*)\1$/.exec(value);
    found[match[1]!] = quoted ? quoted[2]! : value.replace(/\s+#.*$/, '');
  }
  return found;
}

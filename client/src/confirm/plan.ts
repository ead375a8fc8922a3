// What to run for a script: from launch.json, the settings and the Python extension.

import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { type Uri, window, workspace } from 'vscode';

import type { Interpreters } from '../common/pythonExtension';
import { interpreterSetting, setting, strings, variables } from '../common/settings';
import { substitute, substituteValues } from '../common/variables';
import { language, say } from '../common/words';
import type { Server } from '../server/resolve';
import { environmentFor } from './facts';
import { type Launch, launchesOf, readEnvironmentFile } from './launch';
import { commandLine, type Options } from './run';

export interface Plan {
  readonly script: string;
  readonly cwd: string;
  readonly python: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Everything but the interpreter, which is asked for its real path first. */
  readonly options: Omit<Options, 'python'>;
  readonly launch: Launch | undefined;
}

export type NoPlan = 'cancelled' | 'no-interpreter';

export async function planFor(uri: Uri, server: Server, interpreters: Interpreters): Promise<Plan | NoPlan> {
  const script = uri.fsPath;
  const launch = await launchFor(uri);
  if (launch === 'cancelled') return launch;
  const python = await interpreterFor(uri, launch, server, interpreters);
  if (!python) return 'no-interpreter';
  const folder = workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(script);
  const values = { ...variables(uri), file: script };
  const own = strings('confirm.arguments', uri).map((each) => substitute(each, values));
  const environment = substituteValues(setting<Record<string, string>>('confirm.environment', {}, uri), values);
  const fromFile = launch?.envFile ? await environmentFile(launch.envFile) : {};
  return {
    script,
    cwd: launch?.cwd ?? folder,
    python,
    env: environmentFor(python[0]!, process.env, fromFile, launch?.env ?? {}, environment),
    options: {
      script: launch?.module ?? script,
      module: launch?.module !== undefined,
      args: own.length > 0 ? own : (launch?.args ?? []),
      device: setting('confirm.device', 'auto', uri),
      steps: setting('confirm.steps', 8, uri),
      timeout: setting('confirm.timeout', 120, uri),
      withFix: setting('confirm.withFix', true, uri),
      scratchCopy: setting('confirm.scratchCopy', false, uri),
      language: language(),
    },
    launch,
  };
}

/** The command that runs the plan, once the interpreter's own path is known. */
export function commandOf(plan: Plan, server: Server, executable: string): string[] {
  return [...server.command, ...commandLine({ ...plan.options, python: executable }, process.pid)];
}

/** The debug configuration for the script. Where several name it, the user chooses. */
async function launchFor(uri: Uri): Promise<Launch | undefined | 'cancelled'> {
  const configurations = workspace.getConfiguration('launch', uri).get<unknown>('configurations');
  if (!Array.isArray(configurations)) return undefined;
  const launches = launchesOf(configurations, uri.fsPath, variables(uri));
  const exact = launches.filter((each) => each.exact);
  if (exact.length < 2 || strings('confirm.arguments', uri).length > 0) return launches[0];
  const items = exact.map((launch) => ({ label: launch.name, description: launch.args.join(' '), launch }));
  const chosen = await window.showQuickPick(items, { title: say('Which debug configuration runs the script?') });
  return chosen ? chosen.launch : 'cancelled';
}

async function interpreterFor(
  uri: Uri,
  launch: Launch | undefined,
  server: Server,
  interpreters: Interpreters,
): Promise<readonly string[] | undefined> {
  if (launch?.python) return launch.python;
  const named = interpreterSetting(uri);
  if (named.length > 0) return named;
  const selected = await interpreters.active(uri);
  return selected ? [selected] : server.python?.command;
}

async function environmentFile(name: string): Promise<Record<string, string>> {
  try {
    return readEnvironmentFile(await readFile(name, 'utf8'));
  } catch {
    return {}; // debugpy, too, goes on without it
  }
}


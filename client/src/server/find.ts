// Resolving the server in this window: the settings as they are now, and what is around.

import path from 'node:path';

import { workspace } from 'vscode';

import type { Logs } from '../common/logs';
import type { Interpreters } from '../common/pythonExtension';
import { commandOf, folderOf, folderPaths, interpreterSetting, setting, strings, variables } from '../common/settings';
import { inspect, isProgram, onPath } from './python';
import { type Resolution, resolveServer, type Surroundings, type Wanted } from './resolve';

export function wanted(): Wanted {
  const folder = folderOf();
  return {
    path: strings('path', folder),
    importStrategy: setting('importStrategy', 'useBundled', folder),
    interpreter: interpreterSetting(),
    trusted: workspace.isTrusted,
    folders: folderPaths(),
  };
}

export function surroundings(extensionPath: string, interpreters: Interpreters, logs: Logs): Surroundings {
  return {
    inspect,
    fromPythonExtension: () => interpreters.active(folderOf()?.uri),
    onPath: () => onPath(),
    substitute: (command, interpreter) => commandOf(command, variables(undefined, interpreter)),
    isProgram: (name) => !path.isAbsolute(name) || isProgram(name),
    launcher: path.join(extensionPath, 'bundled', 'launcher.py'),
    log: (text) => logs.client.info(text),
  };
}

export function find(extensionPath: string, interpreters: Interpreters, logs: Logs): Promise<Resolution> {
  return resolveServer(wanted(), surroundings(extensionPath, interpreters, logs));
}

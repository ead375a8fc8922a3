// "Print Debug Information": what a report about the extension should have in it.

import { env, extensions, version, window, workspace } from 'vscode';

import type { Logs } from './common/logs';
import type { Interpreters } from './common/pythonExtension';
import { SECTION, setting } from './common/settings';
import { wanted } from './server/find';
import type { ServerRunner } from './server/runner';

export async function printDebugInformation(
  extensionId: string,
  server: ServerRunner,
  interpreters: Interpreters,
  logs: Logs,
): Promise<void> {
  const manifest = extensions.getExtension(extensionId)?.packageJSON as { version?: string } | undefined;
  const settings = workspace.getConfiguration(SECTION);
  const information = {
    loopgrad: { extension: manifest?.version, server: server.about ?? null },
    editor: { version, host: env.appHost, remote: env.remoteName ?? null, language: env.language },
    platform: `${process.platform}-${process.arch}`,
    trusted: workspace.isTrusted,
    folders: workspace.workspaceFolders?.map((folder) => folder.uri.toString()) ?? [],
    running: server.running ? { kind: server.server?.kind, command: server.server?.command, python: server.server?.python } : null,
    resolvedFrom: { ...wanted(), pythonExtension: interpreters.installed, selected: await interpreters.active() },
    settings: Object.fromEntries(SHOWN.map((name) => [name, setting<unknown>(name, settings.get(name))])),
  };
  const document = await workspace.openTextDocument({ language: 'json', content: `${JSON.stringify(information, null, 2)}\n` });
  logs.client.info('Debug information printed.');
  await window.showTextDocument(document);
}

const SHOWN = [
  'lint.enable',
  'lint.run',
  'diagnosticMode',
  'select',
  'ignore',
  'severity',
  'ignorePatterns',
  'confirm.device',
  'confirm.steps',
  'confirm.timeout',
];

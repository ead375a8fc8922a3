// The extension's beginning and end.

import { commands, type ExtensionContext, workspace } from 'vscode';

import { Logs } from './common/logs';
import { Interpreters } from './common/pythonExtension';
import { SERVER_SETTINGS } from './common/settings';
import { find } from './server/find';
import { ServerRunner } from './server/runner';
import { Status } from './server/status';

let runner: ServerRunner | undefined;

export function activate(context: ExtensionContext): void {
  const logs = new Logs();
  const interpreters = new Interpreters(logs.client);
  const status = new Status();
  const server = new ServerRunner({
    extensionId: context.extension.id,
    logs,
    status,
    interpreters,
    middleware: {},
    resolve: () => find(context.extensionPath, interpreters, logs),
  });
  runner = server;
  context.subscriptions.push(
    logs,
    interpreters,
    status,
    commands.registerCommand('loopgrad.restartServer', () => server.restartByHand()),
    commands.registerCommand('loopgrad.showClientLogs', () => logs.client.show()),
    commands.registerCommand('loopgrad.showServerLogs', () => logs.server.show()),
    interpreters.onDidChange(() => server.restart()),
    workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    workspace.onDidChangeConfiguration((event) => {
      if (SERVER_SETTINGS.some((name) => event.affectsConfiguration(name))) void server.restart();
    }),
  );
  void server.restart();
}

export async function deactivate(): Promise<void> {
  await runner?.close();
}

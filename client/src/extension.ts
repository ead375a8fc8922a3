// The extension's beginning and end: the parts, tied together.

import {
  commands,
  type Disposable,
  type ExtensionContext,
  languages,
  l10n,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { WorkspaceEdit } from 'vscode-languageclient/node';

import { checkWorkspace, findingHere, fixFile, successor } from './commands';
import { Logs } from './common/logs';
import { Interpreters } from './common/pythonExtension';
import { SERVER_SETTINGS } from './common/settings';
import { language } from './common/words';
import { Confirm, type Target } from './confirm/controller';
import { printDebugInformation } from './debugInformation';
import { ExplainPanel } from './explain/panel';
import { keyOf, Results } from './confirm/results';
import type { Finding } from './protocol';
import { RuleViewer } from './rules/viewer';
import { find } from './server/find';
import { type Asked, Requests } from './server/requests';
import { ServerRunner } from './server/runner';
import { Status } from './server/status';
import { Tracebacks } from './traceback';

let closing: (() => Promise<unknown>) | undefined;

export function activate(context: ExtensionContext): void {
  const logs = new Logs();
  const interpreters = new Interpreters(logs.client);
  const status = new Status();
  const results = new Results();
  const requests = new Requests(() => server.running);
  const server: ServerRunner = new ServerRunner({
    extensionId: context.extension.id,
    extensionPath: context.extensionPath,
    logs,
    status,
    interpreters,
    resolve: () => find(context.extensionPath, interpreters, logs),
  });
  const confirm = new Confirm(server, interpreters, results, requests, (held, cwd) => void show({ code: held.code, key: keyOf(held, cwd) }));
  const rules = new RuleViewer(context.extensionPath, requests);
  const panel = new ExplainPanel(context.extensionUri, {
    explain: (asked) => requests.explain(asked),
    fixOf: (finding) => requests.fixOf(finding),
    apply: (fix) => applyFix(server, fix.edit),
    confirm: (finding) => void confirm.confirm(scriptOf(finding)),
    openRule: (code) => void rules.show({ code, language: language() }),
    openReport: (finding) => void confirm.reportOf(finding.key),
    lastRun: (finding) => results.of(finding.key),
    successor,
  });

  async function show(asked: Asked): Promise<void> {
    if (!(await panel.show(asked))) {
      window.setStatusBarMessage(l10n.t('Loopgrad: this finding is gone.'), 5_000);
      await rules.show({ code: asked.code, language: language() });
    }
  }
  const tracebacks = new Tracebacks(requests, (finding: Finding) => show(finding));

  const command = (name: string, run: (...args: never[]) => unknown): Disposable =>
    commands.registerCommand(`loopgrad.${name}`, told(logs, run));
  context.subscriptions.push(
    logs,
    interpreters,
    status,
    rules,
    panel,
    confirm,
    command('restartServer', () => server.restartByHand()),
    command('showClientLogs', () => logs.client.show()),
    command('showServerLogs', () => logs.server.show()),
    command('printDebugInformation', () => printDebugInformation(context.extension.id, server, interpreters, logs)),
    command('fixFile', () => fixFile(requests)),
    command('checkAll', () => checkWorkspace(requests)),
    command('explainHere', async () => {
      const asked = await findingHere(requests);
      if (asked) await show(asked);
    }),
    command('showExplanation', (asked: Asked) => show(asked)),
    command('explainTraceback', () => tracebacks.fromAnywhere()),
    command('explainTerminalSelection', () => tracebacks.fromTerminal()),
    command('confirm', (target?: Target) => confirm.confirm(target instanceof Uri ? { uri: target.toString() } : target)),
    confirm.onDidChange(() => panel.render()),
    languages.onDidChangeDiagnostics(({ uris }) => void panel.refresh(uris).catch(() => undefined)),
    interpreters.onDidChange(() => server.restart()),
    workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    workspace.onDidChangeConfiguration((event) => {
      if (SERVER_SETTINGS.some((name) => event.affectsConfiguration(name))) void server.restart();
    }),
  );
  closing = () => Promise.all([server.close(), confirm.close()]);
  void server.restart();
}

export async function deactivate(): Promise<void> {
  await closing?.();
}

/** What to run for a finding: where the backward is that raises is the training script rather than where it is caused. */
function scriptOf(finding: Finding): Target | undefined {
  const uri = finding.raisedAt?.uri ?? finding.uri;
  return uri ? { uri } : undefined;
}

/** A command whose failure the user hears of: it was asked for. */
function told(logs: Logs, run: (...args: never[]) => unknown): (...args: never[]) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args);
    } catch (error) {
      logs.client.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
      void window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  };
}

async function applyFix(server: ServerRunner, edit: WorkspaceEdit): Promise<void> {
  const converted = await server.running?.protocol2CodeConverter.asWorkspaceEdit(edit);
  if (!converted || !(await workspace.applyEdit(converted))) {
    void window.showWarningMessage(l10n.t('The fix could not be applied.'));
  }
}

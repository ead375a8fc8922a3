// Telling the user why there is no server, and what can be done about it.

import { commands, l10n, window } from 'vscode';

import type { Interpreters } from '../common/pythonExtension';
import type { Problem } from './resolve';

export function describe(problem: Problem): string {
  switch (problem.kind) {
    case 'no-python':
      return problem.tried.length === 0
        ? l10n.t('Loopgrad needs Python 3.10 to 3.14, and there is no Python on the PATH.')
        : l10n.t('Loopgrad needs Python 3.10 to 3.14. Found only: {0}.', problem.tried.join(', '));
    case 'in-workspace':
      return l10n.t('Loopgrad does not run {0}: it belongs to this workspace, which is not trusted.', problem.program);
    case 'no-program':
      return l10n.t('Loopgrad cannot run {0}, which the setting loopgrad.path names: there is no such program.', problem.program);
    case 'unusable-python':
      return describeUnusable(problem);
  }
}

function describeUnusable({ interpreter, why, detail }: Problem & { kind: 'unusable-python' }): string {
  switch (why) {
    case 'missing':
      return l10n.t('Loopgrad cannot run {0}: there is no such program.', interpreter);
    case 'failed':
      return l10n.t('Loopgrad cannot run {0}, which fails: {1}', interpreter, detail);
    case 'too-old':
    case 'too-new':
    case 'other-implementation':
      return l10n.t('Loopgrad needs Python 3.10 to 3.14, and {0} is {1}.', interpreter, detail);
  }
}

/** Shows a message with what helps. It stays until the user has read it, and nothing waits for that. */
export function offerHelp(message: string, interpreters: Interpreters): void {
  const choose = l10n.t('Choose Interpreter');
  const settings = l10n.t('Open Settings');
  const logs = l10n.t('Show Logs');
  void window.showErrorMessage(message, choose, settings, logs).then(async (answer) => {
    if (answer === choose) await interpreters.choose();
    if (answer === settings) await commands.executeCommand('workbench.action.openSettings', '@ext:loopgrad.loopgrad');
    if (answer === logs) await commands.executeCommand('loopgrad.showClientLogs');
  });
}

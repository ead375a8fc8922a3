// The entry in the language status: what the server is doing. It opens the logs.

import {
  type Disposable,
  l10n,
  languages,
  type LanguageStatusItem,
  LanguageStatusSeverity,
} from 'vscode';

export type State = 'starting' | 'idle' | 'busy' | 'failed';

export class Status implements Disposable {
  private readonly item: LanguageStatusItem;

  constructor() {
    this.item = languages.createLanguageStatusItem('loopgrad', { language: 'python' });
    this.item.name = 'Loopgrad';
    this.item.command = { command: 'loopgrad.showServerLogs', title: l10n.t('Show Logs') };
    this.show('starting');
  }

  /** `detail`: the version and the interpreter, or what went wrong. */
  show(state: State, detail?: string): void {
    const failed = state === 'failed';
    this.item.text = TEXTS[state]();
    this.item.busy = state === 'busy' || state === 'starting';
    this.item.severity = failed ? LanguageStatusSeverity.Error : LanguageStatusSeverity.Information;
    if (detail !== undefined) this.item.detail = detail;
    this.item.command = failed
      ? { command: 'loopgrad.showClientLogs', title: l10n.t('Show Logs') }
      : { command: 'loopgrad.showServerLogs', title: l10n.t('Show Logs') };
  }

  dispose(): void {
    this.item.dispose();
  }
}

const TEXTS: Record<State, () => string> = {
  starting: () => l10n.t('Loopgrad: starting'),
  idle: () => 'Loopgrad',
  busy: () => l10n.t('Loopgrad: checking'),
  failed: () => l10n.t('Loopgrad: not running'),
};

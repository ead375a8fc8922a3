// From a traceback to its cause: pasted, selected in an editor, or selected in the terminal.

import { commands, env, l10n, window } from 'vscode';

import { reveal, toRange } from './common/reveal';
import { looksLikeTraceback } from './common/tracebackText';
import type { Finding } from './protocol';
import type { Requests } from './server/requests';

export class Tracebacks {
  constructor(
    private readonly requests: Requests,
    private readonly explain: (finding: Finding) => Promise<void>,
  ) {}

  /** From the selection, else from the clipboard, else asked for. */
  async fromAnywhere(): Promise<void> {
    const text = this.selection() ?? (await this.clipboard()) ?? (await this.ask());
    if (text) await this.open(text);
  }

  /** VS Code lets no extension read the terminal's selection: it is copied, and the clipboard put back. */
  async fromTerminal(): Promise<void> {
    const before = await env.clipboard.readText();
    await env.clipboard.writeText('');
    await commands.executeCommand('workbench.action.terminal.copySelection');
    const text = await env.clipboard.readText();
    await env.clipboard.writeText(before);
    if (text) await this.open(text);
    else void window.showInformationMessage(l10n.t('Select the traceback in the terminal first.'));
  }

  /** What is selected; without a selection, a log or a pasted text as a whole. */
  private selection(): string | undefined {
    const editor = window.activeTextEditor;
    if (!editor || (editor.selection.isEmpty && editor.document.languageId === 'python')) return undefined;
    const text = editor.document.getText(editor.selection.isEmpty ? undefined : editor.selection);
    return looksLikeTraceback(text) ? text : undefined;
  }

  private async clipboard(): Promise<string | undefined> {
    const text = await env.clipboard.readText();
    return looksLikeTraceback(text) ? text : undefined;
  }

  private async ask(): Promise<string | undefined> {
    return window.showInputBox({
      title: l10n.t('Explain Traceback'),
      prompt: l10n.t('Paste the traceback. One that is on the clipboard or selected in an editor is taken unasked.'),
      ignoreFocusOut: true,
    });
  }

  private async open(text: string): Promise<void> {
    const cause = await this.requests.fromTraceback(text);
    if (cause.uri !== null) await reveal(cause.uri, toRange(cause.range));
    const { finding } = cause;
    if (!finding) {
      void window.showInformationMessage(cause.message);
      return;
    }
    const explain = l10n.t('Explain');
    if ((await window.showInformationMessage(cause.message, explain)) === explain) await this.explain(finding);
  }
}

// The commands that are more than a call: fixing a file, checking the workspace, explaining what the cursor is on.

import { l10n, languages, Uri, window } from 'vscode';

import { say } from './common/words';
import type { Finding, Key } from './protocol';
import type { Asked, Requests } from './server/requests';

export async function fixFile(requests: Requests): Promise<void> {
  const uri = window.activeNotebookEditor?.notebook.uri ?? window.activeTextEditor?.document.uri;
  if (!uri) return;
  const { applied, fixes } = await requests.fixAll(uri);
  if (fixes.length === 0) {
    window.setStatusBarMessage(l10n.t('Loopgrad: nothing to fix here.'), 5_000);
  } else if (applied) {
    window.setStatusBarMessage(l10n.t('Loopgrad: {0} fixes applied.', fixes.length), 5_000);
  } else {
    void window.showWarningMessage(l10n.t('The fixes could not be applied.'));
  }
}

export async function checkWorkspace(requests: Requests): Promise<void> {
  const checked = await requests.checkWorkspace();
  if (checked.running) {
    void window.showInformationMessage(l10n.t('The workspace is being checked already.'));
    return;
  }
  const counts = l10n.t('{0} errors, {1} warnings, {2} notes', checked.errors, checked.warnings, checked.information);
  const files = checked.cancelled
    ? l10n.t('Cancelled after {0} of {1} files', checked.files, checked.total)
    : l10n.t('{0} files checked', checked.files);
  void window.showInformationMessage(`Loopgrad: ${files}: ${counts}.`);
}

/** The finding at the cursor, on whichever line of its story that is; else one of the file's, by choice. */
export async function findingHere(requests: Requests): Promise<Asked | undefined> {
  const editor = window.activeTextEditor;
  if (!editor) return undefined;
  const { uri } = editor.document;
  const { start, end } = editor.selection;
  const here = unique(await requests.findingsAt(uri, { start: { ...plain(start) }, end: { ...plain(end) } }));
  if (here.length === 1) return here[0];
  const all = findingsOf(uri);
  const among = here.length > 1 ? all.filter((each) => here.some((one) => isSame(one, each.asked))) : all;
  if (among.length === 0) {
    void window.showInformationMessage(l10n.t('There is no finding in this file.'));
    return undefined;
  }
  if (among.length === 1) return among[0]!.asked;
  const chosen = await window.showQuickPick(among, { title: l10n.t('Explain Finding') });
  return chosen?.asked;
}

interface Item {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly asked: Asked;
}

function findingsOf(uri: Uri): Item[] {
  return languages.getDiagnostics(uri).flatMap((diagnostic) => {
    const { data } = diagnostic as { data?: { key?: Key; hint?: boolean } };
    if (diagnostic.source !== 'loopgrad' || !data?.key || data.hint) return [];
    const code = String(data.key[0]);
    const description = say('line {0}', diagnostic.range.start.line + 1);
    return [{ label: code, description, detail: diagnostic.message, asked: { code, key: data.key } }];
  });
}

/** The finding's name after its line has moved: the only one of its code in the file. */
export function successor(finding: Finding): Asked | undefined {
  const same = finding.uri ? findingsOf(Uri.parse(finding.uri, true)).filter((each) => each.asked.code === finding.code) : [];
  return same.length === 1 ? same[0]!.asked : undefined;
}

function unique(asked: readonly Asked[]): Asked[] {
  return asked.filter((each, index) => asked.findIndex((other) => isSame(each, other)) === index);
}

function isSame(one: Asked, other: Asked): boolean {
  return JSON.stringify(one.key) === JSON.stringify(other.key);
}

function plain({ line, character }: { line: number; character: number }): { line: number; character: number } {
  return { line, character };
}

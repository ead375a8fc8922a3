// Going to a place in the code, in a file or in a notebook's cell.

import {
  NotebookRange,
  Range,
  Selection,
  type TextEditor,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  window,
  workspace,
} from 'vscode';
import type { Range as ProtocolRange } from 'vscode-languageclient/node';

export const CELL_SCHEME = 'vscode-notebook-cell';

export function toRange(range: ProtocolRange): Range {
  return new Range(range.start.line, range.start.character, range.end.line, range.end.character);
}

/** Opens the document and selects the range. From a panel, `beside` takes the editor next to it. */
export async function reveal(uri: string, range: Range, from?: ViewColumn): Promise<void> {
  const target = Uri.parse(uri, true);
  if (target.scheme === CELL_SCHEME) return revealCell(target, range);
  // The editor that shows it already, in whichever group; else another group than the panel's.
  const shown = window.visibleTextEditors.find((editor) => editor.document.uri.toString() === target.toString());
  const column = shown?.viewColumn ?? (from === undefined ? undefined : from === ViewColumn.One ? ViewColumn.Two : ViewColumn.One);
  const editor = await window.showTextDocument(await workspace.openTextDocument(target), {
    ...(column !== undefined && { viewColumn: column }),
    preserveFocus: false,
  });
  select(editor, range);
}

async function revealCell(target: Uri, range: Range): Promise<void> {
  for (const notebook of workspace.notebookDocuments) {
    const cell = notebook.getCells().find((each) => each.document.uri.toString() === target.toString());
    if (!cell) continue;
    const selection = new NotebookRange(cell.index, cell.index + 1);
    const editor = await window.showNotebookDocument(notebook, { selections: [selection] });
    editor.revealRange(selection);
    // The cell's own editor comes with it, if the cell is on the screen.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const own = window.visibleTextEditors.find((each) => each.document === cell.document);
    if (own) select(own, range);
    return;
  }
}

function select(editor: TextEditor, range: Range): void {
  editor.selection = new Selection(range.start, range.end);
  editor.revealRange(range, TextEditorRevealType.InCenterIfOutsideViewport);
}

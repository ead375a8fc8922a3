// The panel "Explain Finding": one beside the editor, showing the finding that was asked for last.

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';

import { type Disposable, Uri, ViewColumn, type Webview, type WebviewPanel, window, workspace } from 'vscode';

import { reveal, toRange } from '../common/reveal';
import { language, say } from '../common/words';
import type { HeldFinding } from '../confirm/report';
import type { Result } from '../confirm/results';
import type { Explanation, Finding } from '../protocol';
import type { Asked, WholeFix } from '../server/requests';
import { page } from './page';
import type { Picture } from './picture';

export interface Deeds {
  explain(asked: Asked): Promise<Explanation>;
  fixOf(finding: Finding): Promise<WholeFix | undefined>;
  apply(fix: WholeFix): Promise<void>;
  confirm(finding: Finding): void;
  openRule(code: string): void;
  openReport(finding: Finding): void;
  /** What the last run has said of it, if the code is still that of the run. */
  lastRun(finding: Finding): { result: Result; held: HeldFinding | undefined } | undefined;
  /** The same finding under another name: its line has moved. */
  successor(finding: Finding): Asked | undefined;
}

interface FromPanel {
  readonly type: 'ready' | 'step' | 'cut' | 'carrier' | 'action';
  readonly value?: string;
}

interface Shown {
  readonly explanation: Explanation;
  readonly fix: WholeFix | undefined;
  readonly gone: boolean;
}

export class ExplainPanel implements Disposable {
  private panel: WebviewPanel | undefined;
  private shown: Shown | undefined;
  private picture: Picture | undefined;
  private asking = 0;

  constructor(
    private readonly extensionUri: Uri,
    private readonly deeds: Deeds,
  ) {}

  /** Whether the finding is there to be shown. */
  async show(asked: Asked): Promise<boolean> {
    const explanation = await this.deeds.explain(asked);
    if (!explanation.finding) return false;
    this.shown = { explanation, fix: undefined, gone: false };
    this.open();
    this.render();
    // The picture is there at once; the fix has to be tried out first.
    await this.addFix(explanation);
    return true;
  }

  /** The findings of these documents may be other ones: asks again for the one on show. */
  async refresh(uris: readonly Uri[]): Promise<void> {
    const before = this.shown;
    const finding = before?.explanation.finding;
    if (!this.panel || !before || !finding || !uris.some((uri) => isSameUri(uri, finding.uri))) return;
    const asking = ++this.asking;
    let explanation = await this.deeds.explain({ code: finding.code, key: finding.key });
    const moved = explanation.finding ? undefined : this.deeds.successor(finding);
    if (moved) explanation = await this.deeds.explain(moved);
    if (asking !== this.asking || this.shown !== before) return;
    if (!explanation.finding) {
      this.shown = { ...before, gone: true };
      this.render();
      return;
    }
    if (!before.gone && JSON.stringify(explanation.finding) === JSON.stringify(before.explanation.finding)) {
      this.render();
      return;
    }
    this.shown = { explanation, fix: undefined, gone: false };
    await this.addFix(explanation);
  }

  private async addFix(explanation: Explanation): Promise<void> {
    const fix = explanation.finding ? await this.deeds.fixOf(explanation.finding) : undefined;
    if (this.shown?.explanation !== explanation) return;
    this.shown = { ...this.shown, fix };
    this.render();
  }

  private open(): void {
    if (this.panel) {
      this.panel.reveal(undefined, true);
      return;
    }
    const panel = window.createWebviewPanel(
      'loopgrad.explain',
      'Loopgrad',
      { viewColumn: ViewColumn.Beside, preserveFocus: true },
      {
        enableScripts: true,
        enableFindWidget: true,
        localResourceRoots: [Uri.joinPath(this.extensionUri, 'client', 'dist'), Uri.joinPath(this.extensionUri, 'client', 'media')],
      },
    );
    panel.webview.onDidReceiveMessage((message: FromPanel) => void this.take(message));
    panel.onDidDispose(() => (this.panel = this.shown = undefined));
    panel.webview.html = this.shell(panel.webview);
    this.panel = panel;
  }

  render(): void {
    if (!this.panel || !this.shown) return;
    const { explanation, fix, gone } = this.shown;
    const finding = explanation.finding ?? undefined;
    const run = finding && this.deeds.lastRun(finding);
    const rendered = page(
      {
        explanation,
        fix,
        gone,
        report: run?.result.report,
        before: run?.result.before,
        held: run?.held,
        canConfirm: workspace.isTrusted && finding?.uri?.startsWith('file:') === true,
      },
      say,
    );
    this.picture = rendered.picture;
    this.panel.title = rendered.title;
    void this.panel.webview.postMessage({ type: 'render', markup: rendered.markup });
  }

  private async take({ type, value }: FromPanel): Promise<void> {
    const finding = this.shown?.explanation.finding;
    if (type === 'ready') this.render();
    if (!finding) return;
    const column = this.panel?.viewColumn;
    if (type === 'step') {
      const step = finding.story[Number(value)];
      if (step?.uri) await reveal(step.uri, toRange(step.range), column);
    } else if (type === 'cut') {
      const cut = this.picture?.cuts[Number(value)];
      if (cut) await reveal(cut.uri, toRange(cut.range), column);
    } else if (type === 'carrier') {
      const run = this.deeds.lastRun(finding);
      const place = run?.result.report.carriers[Number(value)]?.stored_at;
      if (run && place) {
        const start = { line: place.line - 1, character: 0 };
        const uri = Uri.file(resolve(run.result.cwd, place.path)).toString();
        await reveal(uri, toRange({ start, end: start }), column);
      }
    } else if (type === 'action') {
      await this.act(value, finding);
    }
  }

  private async act(action: string | undefined, finding: Finding): Promise<void> {
    if (action === 'confirm') this.deeds.confirm(finding);
    if (action === 'rule') this.deeds.openRule(finding.code);
    if (action === 'report') this.deeds.openReport(finding);
    if (action === 'fix' && this.shown?.fix) await this.deeds.apply(this.shown.fix);
  }

  /** The frame: strict about what may load, and with nothing in it that comes from the code. */
  private shell(webview: Webview): string {
    const nonce = randomBytes(16).toString('base64');
    const style = webview.asWebviewUri(Uri.joinPath(this.extensionUri, 'client', 'media', 'panel.css')).toString();
    const script = webview.asWebviewUri(Uri.joinPath(this.extensionUri, 'client', 'dist', 'panel.js')).toString();
    return `<!DOCTYPE html>
<html lang="${language() === 'zh-cn' ? 'zh-Hans' : 'en'}">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Loopgrad</title>
</head>
<body><main></main><script nonce="${nonce}" src="${script}"></script></body>
</html>`;
  }

  dispose(): void {
    this.panel?.dispose();
  }
}

function isSameUri(uri: Uri, other: string | null): boolean {
  return other !== null && uri.toString() === Uri.parse(other, true).toString();
}

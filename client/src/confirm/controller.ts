// "Confirm on device": runs the user's script because the user asks for it, shows how it goes, and keeps the result.

import path from 'node:path';

import {
  commands,
  type Disposable,
  EventEmitter,
  l10n,
  type OutputChannel,
  ProgressLocation,
  Uri,
  window,
  workspace,
} from 'vscode';

import type { Interpreters } from '../common/pythonExtension';
import { say } from '../common/words';
import { verdict } from '../explain/page';
import type { Key } from '../protocol';
import type { Requests } from '../server/requests';
import type { ServerRunner } from '../server/runner';
import type { Event } from './events';
import { executableOf } from './facts';
import { commandOf, type Plan, planFor } from './plan';
import { type HeldFinding, type Report, sentence } from './report';
import type { Results } from './results';
import { ConfirmRun, type Ending } from './run';

/** What the code lens, the panel and the commands ask with. */
export interface Target {
  readonly uri?: string;
  readonly line?: number;
}

export class Confirm implements Disposable {
  private readonly changed = new EventEmitter<void>();
  /** There is another result, or one holds no more. */
  readonly onDidChange = this.changed.event;
  private readonly running = new Map<string, ConfirmRun | undefined>();
  private channel: OutputChannel | undefined;
  private readonly subscription: Disposable;

  constructor(
    private readonly server: ServerRunner,
    private readonly interpreters: Interpreters,
    private readonly results: Results,
    private readonly requests: Requests,
    private readonly explain: (finding: HeldFinding, cwd: string) => void,
  ) {
    this.subscription = workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0 && document.uri.scheme === 'file' && this.results.forget(document.uri.fsPath)) {
        this.changed.fire();
      }
    });
  }

  async confirm(target?: Target): Promise<void> {
    const uri = target?.uri ? Uri.parse(target.uri, true) : window.activeTextEditor?.document.uri;
    if (!uri || !(await this.mayRun(uri))) return;
    const script = uri.fsPath;
    if (this.running.has(script)) {
      void window.showInformationMessage(l10n.t('{0} is being confirmed already.', path.basename(script)));
      return;
    }
    this.running.set(script, undefined);
    let done: { plan: Plan; ending: Ending } | undefined;
    try {
      done = await this.planAndRun(uri);
    } finally {
      this.running.delete(script);
    }
    // What is told stays until it is answered, and that may be never: nothing waits for it.
    if (done) await this.show(done.plan, done.ending);
  }

  /** Never in a workspace that is not trusted, and only what is on the disk. */
  private async mayRun(uri: Uri): Promise<boolean> {
    if (!workspace.isTrusted) {
      const manage = l10n.t('Manage Trust');
      const message = l10n.t('Confirming runs the script. That needs a workspace that you trust.');
      if ((await window.showWarningMessage(message, manage)) === manage) {
        await commands.executeCommand('workbench.trust.manage');
      }
      return false;
    }
    if (uri.scheme !== 'file' || !uri.path.endsWith('.py')) {
      void window.showWarningMessage(l10n.t('Only a Python file on the disk can be confirmed.'));
      return false;
    }
    const document = workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    if (document?.isDirty && !(await document.save())) {
      void window.showWarningMessage(l10n.t('{0} could not be saved.', path.basename(uri.fsPath)));
      return false;
    }
    return true;
  }

  private async planAndRun(uri: Uri): Promise<{ plan: Plan; ending: Ending } | undefined> {
    const { server } = this.server;
    if (!server) {
      void window.showErrorMessage(l10n.t('The Loopgrad server is not running.'));
      return undefined;
    }
    const plan = await planFor(uri, server, this.interpreters);
    if (plan === 'cancelled') return undefined;
    if (plan === 'no-interpreter') {
      void this.needs(l10n.t('There is no Python to run the script with.'));
      return undefined;
    }
    const python = await executableOf(plan.python, plan.env);
    if (python === undefined) {
      void this.needs(l10n.t('{0} cannot be run: there is no such program, or it fails.', plan.python.join(' ')));
      return undefined;
    }
    if (plan.launch && plan.launch.unsettled.length > 0) {
      this.output.appendLine(
        l10n.t('Left out, since only the debugger can ask for it: {0}', plan.launch.unsettled.join(' ')),
      );
    }
    return { plan, ending: await this.run(plan, commandOf(plan, server, python)) };
  }

  private async needs(message: string): Promise<void> {
    const choose = l10n.t('Choose Interpreter');
    if ((await window.showErrorMessage(message, choose)) === choose) await this.interpreters.choose();
  }

  private async run(plan: Plan, command: readonly string[]): Promise<Ending> {
    this.output.appendLine(`> ${command.join(' ')}`);
    const title = l10n.t('Confirming {0}', path.basename(plan.script));
    const options = { location: ProgressLocation.Notification, cancellable: true, title };
    return window.withProgress(options, async (progress, token) => {
      progress.report({ message: say('at most {0} s', plan.options.timeout) });
      const run = new ConfirmRun({
        command,
        cwd: plan.cwd,
        env: plan.env,
        output: (text) => this.output.append(text),
        progress: (event) => {
          const message = tell(event);
          if (message !== undefined) progress.report({ message });
        },
      });
      this.running.set(plan.script, run);
      token.onCancellationRequested(() => void run.cancel());
      return run.ended;
    });
  }

  private async show(plan: Plan, ending: Ending): Promise<void> {
    const name = path.basename(plan.script);
    if ('cancelled' in ending) {
      this.output.appendLine(l10n.t('Cancelled.'));
      return;
    }
    if ('failed' in ending) {
      this.output.appendLine(ending.failed);
      await this.offer('error', l10n.t('{0} could not be confirmed: {1}', name, ending.failed), []);
      return;
    }
    const { report } = ending;
    if (report.torch_missing) {
      const how = l10n.t('Install PyTorch there, or choose the interpreter that the script runs with.');
      await this.needs(`${l10n.t('There is no PyTorch in {0}.', report.interpreter ?? plan.python.join(' '))} ${how}`);
      return;
    }
    this.results.add(plan.script, plan.cwd, report);
    this.changed.fire();
    await this.tellServer(report, plan.cwd);
    const headline = `${name}: ${verdict(report, say)}`;
    this.output.appendLine(`${headline}: ${report.reason}`);
    const refuted = report.findings.filter((each) => each.status === 'refuted');
    if (refuted.length > 0) return this.showRefuted(report, refuted);
    const confirmed = report.findings.find((each) => each.status === 'confirmed');
    const explain = { title: l10n.t('Explain'), run: () => confirmed && this.explain(confirmed, plan.cwd) };
    const proven = report.fixed?.proven ? ` ${l10n.t('The fix is proven.')}` : '';
    const level = report.verdict === 'clean' ? 'information' : 'warning';
    await this.offer(level, `${headline}. ${sentence(report.reason)}${proven}`, confirmed ? [explain] : []);
  }

  /** The diagnostics are to say it as well. A `loopgrad` of the user's own may not know how. */
  private async tellServer(report: Report, folder: string): Promise<void> {
    try {
      await this.requests.confirmed(report, folder);
    } catch (error) {
      this.output.appendLine(String(error));
    }
  }

  private async showRefuted(report: Report, refuted: readonly HeldFinding[]): Promise<void> {
    const names = refuted.map((each) => `${each.code} (${l10n.t('line {0}', each.range.start.line)})`).join(', ');
    const message = l10n.t('A complete run on {0} does not bear out {1}.', report.device ?? '-', names);
    const reported = refuted.find((each) => each.report);
    const open = { title: l10n.t('Open a Report'), run: () => reported && openReport(reported) };
    await this.offer('warning', message, reported ? [open] : []);
  }

  private async offer(
    level: 'error' | 'warning' | 'information',
    message: string,
    choices: readonly { title: string; run: () => unknown }[],
  ): Promise<void> {
    const output = { title: l10n.t('Show Output'), run: () => this.output.show(true) };
    const show = { error: window.showErrorMessage, warning: window.showWarningMessage, information: window.showInformationMessage };
    const all = [...choices, output];
    const answer = await show[level](message, ...all.map((each) => each.title));
    await all.find((each) => each.title === answer)?.run();
  }

  /** The report of a finding that a run refutes. */
  async reportOf(key: Key): Promise<void> {
    const held = this.results.of(key)?.held;
    if (held) await openReport(held);
  }

  private get output(): OutputChannel {
    this.channel ??= window.createOutputChannel('Loopgrad: Confirm');
    return this.channel;
  }

  /** Ends what runs; nothing of it is left behind. */
  async close(): Promise<void> {
    const runs = [...this.running.values()].filter((run) => run !== undefined);
    await Promise.all(runs.map((run) => run.cancel()));
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
    this.channel?.dispose();
  }
}

/** The script to report a finding with, in an editor of its own. Nothing is sent anywhere. */
async function openReport({ report }: HeldFinding): Promise<void> {
  if (report) await window.showTextDocument(await workspace.openTextDocument({ language: 'python', content: report }));
}

/** How a run goes on, in a few words. */
function tell(event: Event): string | undefined {
  switch (event.event) {
    case 'start':
      switch (event.phase) {
        case 'run':
          return say('starting');
        case 'fixed-run':
          return say('starting again, with the fix');
        case 'details':
          return say('running again, to see which calls built the graph');
        default:
          return undefined;
      }
    case 'loaded':
      return say('PyTorch {0} is loaded', event.torch);
    case 'step':
      return event.nodes < 0 ? say('iteration {0}', event.step) : say('iteration {0}: {1} graph nodes', event.step, event.nodes);
    case 'check':
      return say('checking the code');
    case 'device':
    case 'result':
    default: // what a later version tells
      return undefined;
  }
}

// The server's own requests, typed. Each fails where no server runs.

import { l10n, type Uri } from 'vscode';
import {
  type CodeAction,
  CodeActionKind,
  CodeActionRequest,
  CodeActionResolveRequest,
  CodeActionTriggerKind,
  type Command,
  DiagnosticSeverity,
  ExecuteCommandRequest,
  type LanguageClient,
  type Range,
  type WorkspaceEdit,
} from 'vscode-languageclient/node';

import type { Report } from '../confirm/report';
import type { Edit, Fix } from '../explain/picture';
import { type Cause, type Explanation, type Finding, type FixedAll, type Key, SHOW_EXPLANATION, type WorkspaceChecked } from '../protocol';

const SOURCE = 'loopgrad';

/** A fix with the edit that makes it. */
export interface WholeFix extends Fix {
  readonly edit: WorkspaceEdit;
}

/** What a finding is asked for by. */
export interface Asked {
  readonly code: string;
  readonly key?: Key | undefined;
}

export class Requests {
  constructor(private readonly running: () => LanguageClient | undefined) {}

  explain(asked: Asked): Promise<Explanation> {
    return this.command('loopgrad.explain', asked);
  }

  fromTraceback(text: string): Promise<Cause> {
    return this.command('loopgrad.fromTraceback', { text });
  }

  fixAll(uri: Uri): Promise<FixedAll> {
    return this.command('loopgrad.fixAll', this.client.code2ProtocolConverter.asUri(uri));
  }

  checkWorkspace(): Promise<WorkspaceChecked> {
    return this.command('loopgrad.checkWorkspace');
  }

  /** Tells what a run has shown: the diagnostics say so until their files change. */
  confirmed(report: Report, folder: string): Promise<{ marked: number }> {
    return this.command('loopgrad.confirmed', { report, folder });
  }

  /** The findings of which some line is in the range, whichever part of their story that is. */
  async findingsAt(uri: Uri, range: Range): Promise<Asked[]> {
    const actions = await this.actions(this.client.code2ProtocolConverter.asUri(uri), range, []);
    return actions
      .map((action) => action.command)
      .filter((command): command is Command => typeof command === 'object' && command.command === SHOW_EXPLANATION)
      .map((command) => command.arguments?.[0] as Asked);
  }

  /** The fix to offer for a finding: the preferred one, else the first that is no suppression. */
  async fixOf(finding: Finding): Promise<WholeFix | undefined> {
    if (finding.uri === null) return undefined;
    const diagnostic = {
      range: finding.range,
      message: finding.message,
      severity: DiagnosticSeverity.Error,
      code: finding.code,
      source: SOURCE,
    };
    const actions = await this.actions(finding.uri, finding.range, [diagnostic]);
    const explanation = actions.findIndex((action) => action.command !== undefined);
    const fixes = actions
      .slice(0, explanation < 0 ? actions.length : explanation)
      .filter((action) => action.diagnostics?.some((each) => each.code === finding.code));
    const chosen = fixes.find((action) => action.isPreferred) ?? fixes[0];
    if (!chosen) return undefined;
    const { edit } = await this.client.sendRequest(CodeActionResolveRequest.type, chosen);
    return edit ? { title: chosen.title, preferred: chosen.isPreferred ?? false, edits: editsOf(edit), edit } : undefined;
  }

  private async actions(uri: string, range: Range, diagnostics: CodeAction['diagnostics']): Promise<CodeAction[]> {
    const answer = await this.client.sendRequest(CodeActionRequest.type, {
      textDocument: { uri },
      range,
      context: {
        diagnostics: diagnostics ?? [],
        only: [CodeActionKind.QuickFix],
        triggerKind: CodeActionTriggerKind.Invoked,
      },
    });
    return (answer ?? []).filter((each): each is CodeAction => typeof each.command !== 'string');
  }

  private command<Result>(command: string, ...args: unknown[]): Promise<Result> {
    return this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
  }

  private get client(): LanguageClient {
    const client = this.running();
    if (!client) throw new Error(l10n.t('The Loopgrad server is not running.'));
    return client;
  }
}

function editsOf(edit: WorkspaceEdit): Edit[] {
  const found = Object.entries(edit.changes ?? {}).flatMap(([uri, edits]) => edits.map((each) => ({ uri, ...each })));
  for (const change of edit.documentChanges ?? []) {
    if (!('textDocument' in change)) continue;
    for (const each of change.edits) {
      if ('newText' in each) found.push({ uri: change.textDocument.uri, ...each });
    }
  }
  return found.map(({ uri, range, newText }) => ({ uri, range, newText }));
}

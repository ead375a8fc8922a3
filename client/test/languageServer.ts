// The real server over its standard input and output, without an editor.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import {
  createProtocolConnection,
  DidOpenTextDocumentNotification,
  ExecuteCommandRequest,
  InitializedNotification,
  InitializeRequest,
  type InitializeParams,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  ShutdownRequest,
  ExitNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';

/** A Python that has what the server imports; LOOPGRAD_PYTHON names one. */
export function serverPython(): string | undefined {
  const named = process.env['LOOPGRAD_PYTHON'];
  const candidates = named ? [named] : [path.resolve('.venv/bin/python'), path.resolve('.venv-ci/bin/python'), 'python3', 'python'];
  return candidates.find((each) => spawnSync(each, ['-c', 'import pygls, libcst'], { stdio: 'ignore' }).status === 0);
}

export class LanguageServer {
  readonly connection: ProtocolConnection;
  private readonly process: ChildProcess;
  private readonly published = new Map<string, PublishDiagnosticsParams>();
  private waiting: (() => void)[] = [];

  constructor(python: string) {
    const child = spawn(python, ['-I', '-S', '-X', 'utf8', 'bundled/launcher.py', 'server'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process = child;
    this.connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    this.connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
      this.published.set(params.uri, params);
      for (const wake of this.waiting.splice(0)) wake();
    });
    this.connection.listen();
  }

  async initialize(options: unknown, locale = 'en'): Promise<void> {
    const params: InitializeParams = {
      processId: process.pid,
      rootUri: null,
      locale,
      capabilities: {
        workspace: { workspaceEdit: { documentChanges: true } },
        textDocument: {
          publishDiagnostics: { relatedInformation: true, dataSupport: true },
          codeAction: { dataSupport: true, resolveSupport: { properties: ['edit'] } },
        },
      },
      initializationOptions: options,
      workspaceFolders: null,
    };
    await this.connection.sendRequest(InitializeRequest.type, params);
    await this.connection.sendNotification(InitializedNotification.type, {});
  }

  /** Opens a document; gives its diagnostics. */
  async open(file: string, text: string): Promise<PublishDiagnosticsParams> {
    const uri = pathToFileURL(path.resolve(file)).toString();
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: 'python', version: 1, text },
    });
    while (!this.published.has(uri)) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.published.get(uri)!;
  }

  command<Result>(command: string, argument: unknown): Promise<Result> {
    return this.connection.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] });
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    await ended;
    this.connection.dispose();
  }
}

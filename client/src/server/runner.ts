// The running server: resolved, started, restarted and brought back after a crash.

import { commands, type Disposable, env, l10n, window, workspace } from 'vscode';
import {
  CloseAction,
  type DocumentSelector,
  ErrorAction,
  type InitializeResult,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
} from 'vscode-languageclient/node';

import type { Logs } from '../common/logs';
import type { Interpreters } from '../common/pythonExtension';
import { setting } from '../common/settings';
import { CONFIRM, SHOW_EXPLANATION, StatusNotification } from '../protocol';
import { describe, offerHelp } from './problems';
import { start, type Started } from './process';
import { Recovery } from './recovery';
import type { Resolution, Server } from './resolve';
import { type Request, RestartQueue } from './restarts';
import type { Status } from './status';
import { traceChannel } from './trace';

export const SELECTOR: DocumentSelector = [
  { scheme: 'file', language: 'python' },
  { scheme: 'untitled', language: 'python' },
  { notebook: 'jupyter-notebook', language: 'python' },
];

/** Milliseconds that a server may take to end when it is asked to. */
const STOP_PATIENCE = 3_000;

export interface Parts {
  readonly extensionId: string;
  readonly extensionPath: string;
  readonly logs: Logs;
  readonly status: Status;
  readonly interpreters: Interpreters;
  resolve(): Promise<Resolution>;
}

export class ServerRunner implements Disposable {
  /** What runs now, and what is known of it. */
  client: LanguageClient | undefined;
  server: Server | undefined;
  private key: string | undefined;
  private readonly queue = new RestartQueue((request) => this.restartNow(request));
  private readonly recovery = new Recovery();
  private readonly trace;

  constructor(private readonly parts: Parts) {
    this.trace = traceChannel(parts.logs.server);
  }

  /** Resolves the server anew, and restarts it if it is another one or `force` says so. */
  restart(force = false): Promise<void> {
    return this.queue.request({ force });
  }

  /** By the user: what has crashed before counts no more. */
  restartByHand(): Promise<void> {
    this.recovery.reset();
    return this.restart(true);
  }

  /** The client, if its server answers. */
  get running(): LanguageClient | undefined {
    return this.client?.isRunning() ? this.client : undefined;
  }

  get about(): InitializeResult['serverInfo'] {
    return this.client?.initializeResult?.serverInfo;
  }

  private async restartNow({ force }: Request): Promise<void> {
    const { logs, status, interpreters } = this.parts;
    const resolution = await this.parts.resolve();
    if ('problem' in resolution) {
      await this.stop();
      const message = describe(resolution.problem);
      logs.client.error(message);
      status.show('failed', message);
      offerHelp(message, interpreters);
      return;
    }
    const { server } = resolution;
    const key = JSON.stringify([server.command, clientCommands()]);
    if (key === this.key && this.running && !force) {
      logs.client.info('The server stays: what it would be started from is the same.');
      return;
    }
    await this.stop();
    await this.start(server, key);
  }

  private async start(server: Server, key: string): Promise<void> {
    const { logs, status, interpreters, extensionPath } = this.parts;
    logs.client.info(`Starting (${server.kind}): ${server.command.join(' ')} server`);
    status.show('starting', server.python?.executable ?? server.command[0] ?? '');
    let started: Started | undefined;
    const client: LanguageClient = new LanguageClient(
      'loopgrad',
      'Loopgrad',
      async () => {
        started = await start(server.command, ['server', '--stdio', ...verbosity()], extensionPath);
        void started.ended.then((how) => logs.client.info(`The server has ended: ${how}`));
        return started.process;
      },
      this.options(() => this.client === client),
    );
    this.client = client;
    this.server = server;
    this.key = key;
    client.onNotification(StatusNotification, ({ state }) => status.show(state));
    try {
      await client.start();
      status.show('idle', this.detail(server));
      logs.client.info(`Running: ${this.detail(server)}`);
    } catch (error) {
      const said = started?.said() || String(error);
      this.client = this.server = this.key = undefined;
      logs.client.error(`The server does not start: ${said}`);
      const message =
        server.kind === 'environment' && said.includes('No module named')
          ? l10n.t('Loopgrad is not installed in {0}. Install it there with its extra "server", or set loopgrad.importStrategy to useBundled.', server.python?.executable ?? '')
          : l10n.t('The Loopgrad server does not start: {0}', said.split('\n').pop() ?? '');
      status.show('failed', message);
      offerHelp(message, interpreters);
    }
  }

  private options(isCurrent: () => boolean): LanguageClientOptions {
    const { logs, extensionId } = this.parts;
    return {
      documentSelector: SELECTOR,
      outputChannel: logs.server,
      traceOutputChannel: this.trace,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: {
        client: 'vscode',
        uriScheme: env.uriScheme,
        extensionId,
        commands: clientCommands(),
        status: true,
      },
      diagnosticPullOptions: { onChange: true, onSave: true },
      // A failed start is told by `start`, with what the server has said.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          if (isCurrent()) this.crashed();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /** The connection has gone without our asking. A server that never came up is the business of `start`. */
  private crashed(): void {
    if (!this.running) return;
    const delay = this.recovery.crashed(Date.now());
    this.key = undefined;
    if (delay === undefined) {
      this.parts.logs.client.error('The server has crashed too often and is not started again.');
      this.parts.status.show('failed', l10n.t('It has crashed several times.'));
      const restart = l10n.t('Restart');
      const logs = l10n.t('Show Logs');
      const message = l10n.t('The Loopgrad server has crashed several times and is not started again.');
      void window.showErrorMessage(message, restart, logs).then(async (answer) => {
        if (answer === restart) await this.restartByHand();
        if (answer === logs) await commands.executeCommand('loopgrad.showServerLogs');
      });
      return;
    }
    this.parts.logs.client.warn(`The server has crashed; starting again in ${delay} ms.`);
    this.parts.status.show('starting');
    setTimeout(() => void this.restart(true), delay);
  }

  private detail(server: Server): string {
    const version = this.about?.version ?? '';
    const python = server.python ? `Python ${server.python.version.join('.')}, ${server.python.executable}` : '';
    return [version, python || server.command.join(' ')].filter(Boolean).join(' · ');
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = this.server = this.key = undefined;
    if (!client) return;
    try {
      if (client.needsStop()) await client.stop(STOP_PATIENCE);
    } catch (error) {
      this.parts.logs.client.warn(`The server did not end by itself: ${String(error)}`);
    }
    await client.dispose(STOP_PATIENCE).catch(() => undefined);
  }

  /** Ends the server and waits for that. */
  async close(): Promise<void> {
    await this.queue.close();
    await this.stop();
    this.dispose();
  }

  dispose(): void {
    this.trace.dispose();
  }
}

/**
 * The commands that this client carries out itself. Confirming runs the script: where the workspace is not trusted,
 * the server is not to offer it.
 */
function clientCommands(): string[] {
  return workspace.isTrusted ? [CONFIRM, SHOW_EXPLANATION] : [SHOW_EXPLANATION];
}

function verbosity(): string[] {
  return setting('trace.server', 'off') === 'off' ? [] : ['--verbose'];
}

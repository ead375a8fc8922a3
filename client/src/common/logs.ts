// The two logs: what the client does, and what the server says.

import { type LogOutputChannel, type Disposable, window } from 'vscode';

export class Logs implements Disposable {
  readonly client: LogOutputChannel = window.createOutputChannel('Loopgrad', { log: true });
  readonly server: LogOutputChannel = window.createOutputChannel('Loopgrad Language Server', { log: true });

  dispose(): void {
    this.client.dispose();
    this.server.dispose();
  }
}

// Where the talk with the server is logged. The language client traces only into a channel whose level is Trace; the
// setting `loopgrad.trace.server` is to do so by itself.

import { type Disposable, EventEmitter, LogLevel, type LogOutputChannel, workspace } from 'vscode';

import { setting } from '../common/settings';

export function traceChannel(channel: LogOutputChannel): LogOutputChannel & Disposable {
  const changed = new EventEmitter<LogLevel>();
  const level = (): LogLevel => (setting('trace.server', 'off') === 'off' ? channel.logLevel : LogLevel.Trace);
  const subscriptions = [
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('loopgrad.trace.server')) changed.fire(level());
    }),
    channel.onDidChangeLogLevel(() => changed.fire(level())),
  ];
  return new Proxy(channel, {
    get(target, name) {
      if (name === 'logLevel') return level();
      if (name === 'onDidChangeLogLevel') return changed.event;
      if (name === 'trace') {
        return (message: string): void => (target.logLevel === LogLevel.Trace ? target.trace(message) : target.info(message));
      }
      if (name === 'dispose') {
        return (): void => subscriptions.concat(changed).forEach((each) => void each.dispose());
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

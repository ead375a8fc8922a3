// The interpreter that the user has chosen in the Python extension, where that is installed.

import { PVSC_EXTENSION_ID, PythonExtension } from '@vscode/python-extension';
import { commands, type Disposable, EventEmitter, extensions, type LogOutputChannel, type Uri } from 'vscode';

export class Interpreters implements Disposable {
  private readonly changed = new EventEmitter<void>();
  private readonly disposables: Disposable[] = [this.changed];
  private api: Promise<PythonExtension | undefined> | undefined;

  /** Another interpreter has been chosen, or the Python extension has come or gone. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: LogOutputChannel) {
    let there = this.installed;
    this.disposables.push(
      extensions.onDidChange(() => {
        if (there === this.installed) return;
        there = this.installed;
        this.api = undefined;
        this.changed.fire();
      }),
    );
  }

  get installed(): boolean {
    return extensions.getExtension(PVSC_EXTENSION_ID) !== undefined;
  }

  /** The path of the interpreter for this resource; undefined where there is none or the extension fails. */
  async active(resource?: Uri): Promise<string | undefined> {
    try {
      const api = await this.load();
      if (!api) return undefined;
      const selected = api.environments.getActiveEnvironmentPath(resource);
      const environment = await api.environments.resolveEnvironment(selected);
      return environment?.executable.uri?.fsPath;
    } catch (error) {
      this.log.warn(`The Python extension gives no interpreter: ${String(error)}`);
      return undefined;
    }
  }

  /** Lets the user choose: with the Python extension's list, else in the settings. */
  async choose(): Promise<void> {
    if (this.installed) {
      await commands.executeCommand('python.setInterpreter');
    } else {
      await commands.executeCommand('workbench.action.openSettings', 'loopgrad.interpreter');
    }
  }

  private load(): Promise<PythonExtension | undefined> {
    this.api ??= this.connect();
    return this.api;
  }

  private async connect(): Promise<PythonExtension | undefined> {
    if (!this.installed) return undefined;
    const api = await PythonExtension.api();
    this.disposables.push(api.environments.onDidChangeActiveEnvironmentPath(() => this.changed.fire()));
    return api;
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }
}

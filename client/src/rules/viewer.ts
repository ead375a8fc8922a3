// Showing a rule's page: the extension answers the addresses that diagnostics link to.

import {
  commands,
  type Disposable,
  l10n,
  type TextDocumentContentProvider,
  Uri,
  type UriHandler,
  window,
  workspace,
} from 'vscode';

import { language } from '../common/words';
import type { Requests } from '../server/requests';
import { packagedPage, type PageName, readAddress } from './pages';

const SCHEME = 'loopgrad-rule';

export class RuleViewer implements UriHandler, TextDocumentContentProvider, Disposable {
  private readonly registrations: Disposable[];

  constructor(
    private readonly extensionPath: string,
    private readonly requests: Requests,
  ) {
    this.registrations = [
      window.registerUriHandler(this),
      workspace.registerTextDocumentContentProvider(SCHEME, this),
    ];
  }

  async handleUri(uri: Uri): Promise<void> {
    const name = readAddress(uri.path, uri.query, language());
    if (name) await this.show(name);
  }

  /** Opens the page, rendered where VS Code's Markdown extension is there. */
  async show(name: PageName): Promise<void> {
    const uri = Uri.from({ scheme: SCHEME, path: `/${name.language}/${name.code}.md` });
    try {
      await commands.executeCommand('markdown.showPreview', uri);
    } catch {
      await window.showTextDocument(uri, { preview: true });
    }
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const [, asked, file] = uri.path.split('/');
    const name = readAddress(`/rules/${file?.replace(/\.md$/, '')}`, `language=${asked}`, language());
    const page = name && ((await this.fromServer(name)) ?? (await packagedPage(this.extensionPath, name)));
    return page ?? l10n.t('There is no such rule.');
  }

  /** The page of the server that runs: it may be of another version than the one in the package. */
  private async fromServer(name: PageName): Promise<string | undefined> {
    if (name.language !== language()) return undefined;
    try {
      return (await this.requests.explain({ code: name.code })).markdown ?? undefined;
    } catch {
      return undefined;
    }
  }

  dispose(): void {
    for (const each of this.registrations) each.dispose();
  }
}

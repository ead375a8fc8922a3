// Where a rule's page is, and its text as a reader wants it.

import { readFile } from 'node:fs/promises';
import path from 'node:path';

export type Language = 'en' | 'zh-cn';

export interface PageName {
  readonly code: string;
  readonly language: Language;
}

/** `vscode://loopgrad.loopgrad/rules/LG101?language=zh-cn`: its path and query. Undefined for all else. */
export function readAddress(address: string, query: string, otherwise: Language): PageName | undefined {
  const code = /^\/rules\/(LG\d{3})\/?$/.exec(address)?.[1];
  if (!code) return undefined;
  const asked = new URLSearchParams(query).get('language');
  return { code, language: asked === 'zh-cn' || asked === 'en' ? asked : otherwise };
}

/** The text without the remarks that its tests need. */
export function clean(text: string): string {
  const body = text.startsWith('---\n') ? text.slice(text.indexOf('\n---\n') + 5).trimStart() : text;
  return body
    .split('\n')
    .filter((line) => !line.startsWith('<!--'))
    .join('\n');
}

/** The packaged page; in English where there is none in the language. */
export async function packagedPage(extensionPath: string, { code, language }: PageName): Promise<string | undefined> {
  const pages = path.join('loopgrad', 'rules', 'pages');
  for (const server of [path.join('bundled', 'server'), 'server']) {
    for (const folder of [language, 'en']) {
      try {
        return clean(await readFile(path.join(extensionPath, server, pages, folder, `${code}.md`), 'utf8'));
      } catch {
        continue;
      }
    }
  }
  return undefined;
}

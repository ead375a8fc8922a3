// Sentences for the user, by VS Code's language.

import { env, l10n } from 'vscode';

import type { Say } from './say';

export const say: Say = (message, ...args) => l10n.t(message, ...args);

/** The language that the server and its pages speak to this user. */
export function language(): 'en' | 'zh-cn' {
  const tag = env.language.toLowerCase();
  return ['zh', 'zh-cn', 'zh-sg'].includes(tag) || tag.startsWith('zh-hans') ? 'zh-cn' : 'en';
}

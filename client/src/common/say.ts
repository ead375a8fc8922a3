// Sentences for the user, where `vscode.l10n` is not at hand: it is passed in, and tests pass their own.

/** `say('line {0}', 3)`: the sentence in the user's language, with its places filled. */
export type Say = (message: string, ...args: (string | number)[]) => string;

/** English, as it stands in the source. */
export const english: Say = (message, ...args) =>
  message.replace(/\{(\d+)\}/g, (whole, index: string) => String(args[Number(index)] ?? whole));

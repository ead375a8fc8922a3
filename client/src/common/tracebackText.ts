// Whether a text is worth asking the server about.

/** What the text of a traceback has at least: a frame, or one of the sentences that PyTorch says. */
const TRACEBACK = /File "[^"]+", line \d+|File \S+\.py:\d+|Cell In ?\[\d+\]|backward through the graph a second time|modified by an inplace operation|does not have a grad_fn|leaf [Vv]ariable that requires grad/;

export function looksLikeTraceback(text: string): boolean {
  return TRACEBACK.test(text);
}

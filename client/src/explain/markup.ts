// Text into markup. All that comes from a finding, a file or a script passes through here.

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escape(text: string): string {
  // Control characters are no XML, and could hide in a file's line.
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>"']/g, (found) => ESCAPES[found] ?? found);
}

/** An element; undefined attributes are left out. The content is markup already. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...content: readonly string[]
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escape(String(value))}"`)
    .join('');
  return `<${name}${written}>${content.join('')}</${name}>`;
}

/** The text cut to so many columns; East Asian characters take two. */
export function fit(text: string, columns: number): string {
  let width = 0;
  let result = '';
  const total = [...text].reduce((sum, each) => sum + widthOf(each), 0);
  if (total <= columns) return text;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    result += character;
  }
  return `${result.trimEnd()}…`;
}

function widthOf(character: string): number {
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{3fffd}]/u.test(character)
    ? 2
    : 1;
}

// A report of a finding that a run did not bear out: the script without what it does not use, as text to look at.
// Nothing is sent anywhere.

import type { HeldFinding, Report } from './report';

interface Block {
  readonly lines: readonly string[];
  /** The name of a top-level function or class; undefined for all that runs by itself. */
  readonly name: string | undefined;
}

/**
 * Leaves out the functions and classes of the top level that nothing else names. What runs stays as it is: only
 * definitions that cannot be reached go, and the lines that are blank because of it.
 */
export function minimalScript(source: string): string {
  const blocks = split(source);
  const runs = blocks.filter((block) => block.name === undefined || isExported(block));
  const used = new Set(runs.flatMap((block) => namesIn(block.lines)));
  for (let grown = true; grown; ) {
    grown = false;
    for (const block of blocks) {
      if (block.name === undefined || !used.has(block.name)) continue;
      for (const name of namesIn(block.lines)) {
        if (!used.has(name)) {
          used.add(name);
          grown = true;
        }
      }
    }
  }
  const kept = blocks.filter((block) => block.name === undefined || isExported(block) || used.has(block.name));
  return kept
    .flatMap((block) => block.lines)
    .join('\n')
    .replace(/\n{4,}/g, '\n\n\n')
    .trim()
    .concat('\n');
}

/** A decorator may register what it decorates: such a definition runs. */
function isExported(block: Block): boolean {
  return block.lines.some((line) => line.startsWith('@'));
}

function split(source: string): Block[] {
  const blocks: Block[] = [];
  let current: { lines: string[]; name: string | undefined } = { lines: [], name: undefined };
  let decorated = false;
  // A line of a string or within brackets begins no block, whatever it looks like.
  const inside = insideLines(source);
  source.split(/\r?\n/).forEach((line, index) => {
    const starts = /^[^\s#)\]}]/.test(line) && !inside.has(index);
    if (starts && !decorated) {
      if (current.lines.length > 0) blocks.push(current);
      current = { lines: [], name: undefined };
    }
    const name = starts ? /^(?:async\s+)?(?:def|class)\s+(\w+)/.exec(line)?.[1] : undefined;
    if (name !== undefined) current.name = name;
    decorated = starts && line.startsWith('@');
    current.lines.push(line);
  });
  return [...blocks, current];
}

/** The numbers of the lines that begin within a string or a bracket. */
function insideLines(source: string): Set<number> {
  const found = new Set<number>();
  let line = 0;
  let depth = 0;
  for (let index = 0; index < source.length; index += 1) {
    const character = source[index]!;
    if (character === '\n') {
      line += 1;
      if (depth > 0) found.add(line);
    } else if (character === '#') {
      index = lineEnd(source, index) - 1;
    } else if (character === '"' || character === "'") {
      const end = stringEnd(source, index);
      for (const each of source.slice(index, end)) if (each === '\n') found.add((line += 1));
      index = end - 1;
    } else if ('([{'.includes(character)) {
      depth += 1;
    } else if (')]}'.includes(character)) {
      depth = Math.max(0, depth - 1);
    }
  }
  return found;
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end < 0 ? source.length : end;
}

function stringEnd(source: string, from: number): number {
  const quote = source[from]!;
  const triple = source.startsWith(quote.repeat(3), from);
  const closing = triple ? quote.repeat(3) : quote;
  let index = from + closing.length;
  while (index < source.length) {
    if (source[index] === '\\') index += 2;
    else if (source.startsWith(closing, index)) return index + closing.length;
    else if (!triple && source[index] === '\n') return index;
    else index += 1;
  }
  return source.length;
}

function namesIn(lines: readonly string[]): string[] {
  return [...new Set(lines.join('\n').match(/[A-Za-z_]\w*/g) ?? [])];
}

export interface About {
  readonly loopgrad: string;
  readonly python: string;
  readonly command: string;
}

/** The whole text: what was said, what the run has shown, and the script. English, as reports are read by anyone. */
export function reportScript(source: string, held: HeldFinding, report: Report, about: About): string {
  const head = [
    `Loopgrad ${about.loopgrad} reports ${held.code} (${held.certainty}, ${held.outcome}), and a complete run does not bear it out.`,
    '',
    `Said: ${held.message}`,
    `Run: ${report.verdict} on ${report.device ?? '-'}, ${report.steps} iterations: ${report.reason}`,
    `Graph nodes per iteration: ${report.graph_nodes.join(', ') || '-'}`,
    `Python: ${about.python}`,
    `Command: ${about.command}`,
    '',
    'Functions and classes that nothing names are left out. Nothing has been sent anywhere.',
    'Please take out what is private before you share this.',
  ];
  return [...head.map((line) => `# ${line}`.trimEnd()), '', minimalScript(source)].join('\n');
}

// What `loopgrad confirm --output-format jsonl` prints: an event a line, the result last.

import type { Report } from './report';

export type Event =
  | { readonly event: 'start'; readonly phase: 'run' | 'details' | 'fixed-run' }
  | { readonly event: 'loaded'; readonly torch: string; readonly python: string }
  | { readonly event: 'device'; readonly device: string }
  /** -1 nodes: they could not be counted. */
  | { readonly event: 'step'; readonly step: number; readonly nodes: number }
  | { readonly event: 'check' }
  | ({ readonly event: 'result' } & Report);

/** Takes in text as it comes, and gives the events whose lines are whole. */
export class EventReader {
  private rest = '';

  take(text: string): Event[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => read(line) ?? []);
  }
}

/** Undefined for what is no event; what events this version does not know, its user ignores. */
function read(line: string): Event | undefined {
  try {
    const found = JSON.parse(line) as { event?: unknown } | null;
    return typeof found?.event === 'string' ? (found as Event) : undefined;
  } catch {
    return undefined;
  }
}

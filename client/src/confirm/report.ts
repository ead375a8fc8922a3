// The result of `loopgrad confirm`.

import type { Outcome } from '../protocol';

export interface ReportPlace {
  readonly path: string;
  readonly line: number;
}

export interface Run {
  readonly verdict: 'confirmed' | 'clean' | 'inconclusive';
  readonly outcome: Outcome | null;
  readonly iteration: number | null;
  readonly loop_line: number | null;
  readonly raised_at: ReportPlace | null;
  readonly freed_at: ReportPlace | null;
  readonly built_at: ReportPlace | null;
  /** The calls that led there, the innermost first. */
  readonly built_through?: readonly ReportPlace[];
  readonly carriers: readonly { readonly name: string; readonly stored_at: ReportPlace | null }[];
  readonly device: string | null;
  readonly redirected: boolean;
  readonly shape_only: boolean;
  readonly steps: number;
  /** Per iteration; -1 where the backward raised and nothing could be counted. */
  readonly graph_nodes: readonly number[];
  readonly seconds: number;
  readonly reason: string;
  readonly first_write?: { readonly path: string; readonly at: ReportPlace | null } | null;
}

/** A reason, which stands behind a colon elsewhere, as a sentence of its own. */
export function sentence(reason: string): string {
  const text = reason.charAt(0).toLocaleUpperCase() + reason.slice(1);
  return text === '' || /[.。!?]$/.test(text) ? text : text + (/[\u4e00-\u9fff）]$/.test(text) ? '。' : '.');
}

export interface Fixed extends Run {
  readonly still_trained: readonly string[];
  readonly no_longer_trained: readonly string[];
  readonly first_loss_equal: boolean | null;
  readonly proven: boolean;
}

export interface HeldFinding {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly certainty: 'certain' | 'possible';
  readonly outcome: Outcome;
  readonly range: { readonly start: { readonly line: number; readonly column: number } };
  readonly status: 'confirmed' | 'refuted' | 'not reached';
  /** For a certain finding that the run refutes: a minimal script to report it with. */
  readonly report?: string | null;
}

export interface Report extends Run {
  readonly version: number;
  readonly findings: readonly HeldFinding[];
  readonly fixed?: Fixed | null;
  /** The interpreter has no usable torch. */
  readonly torch_missing?: boolean;
  readonly interpreter?: string | null;
}

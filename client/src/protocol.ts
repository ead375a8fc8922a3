// What the server's own requests and notifications carry: docs/editors/protocol.md.

import { NotificationType, type Range } from 'vscode-languageserver-protocol/node';

export interface Place {
  readonly uri: string;
  readonly range: Range;
}

export type Role = 'built' | 'freed' | 'carried' | 'reached' | 'modified' | 'retained' | 'cut' | 'stored';

export interface Step {
  readonly role: Role;
  /** The role in the user's language. */
  readonly roleText: string;
  readonly iteration: number | null;
  readonly message: string;
  /** The line that the step is about, where its document is open. */
  readonly source: string;
  /** Null where the cell has been deleted. */
  readonly uri: string | null;
  readonly range: Range;
}

export type Outcome =
  | 'second-backward'
  | 'inplace-version'
  | 'no-grad-fn'
  | 'leaf-inplace'
  | 'grows'
  | 'silent'
  | 'not-trained'
  | 'none';

/** What makes two findings the same: code, path, line and column, as the server counts them. */
export type Key = readonly (string | number)[];

export interface Finding {
  readonly code: string;
  readonly name: string;
  readonly severity: 'error' | 'warning' | 'information';
  readonly certainty: 'certain' | 'possible';
  readonly outcome: Outcome;
  readonly iteration: number | null;
  readonly message: string;
  readonly carriers: readonly string[];
  readonly key: Key;
  readonly uri: string | null;
  readonly range: Range;
  readonly loop: { readonly uri: string | null; readonly range: Range } | null;
  readonly raisedAt: { readonly uri: string | null; readonly range: Range } | null;
  readonly story: readonly Step[];
  readonly href: string | null;
}

export interface Explanation {
  readonly code: string;
  readonly name: string;
  readonly summary: string;
  readonly markdown: string | null;
  readonly href: string | null;
  readonly finding: Finding | null;
}

export interface WorkspaceChecked {
  readonly running?: true;
  readonly files: number;
  readonly total: number;
  readonly cancelled: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly information: number;
  readonly unreadable: number;
}

export interface FixedAll {
  readonly applied: boolean;
  readonly fixes: readonly string[];
}

export interface Cause {
  readonly uri: string | null;
  readonly range: Range;
  readonly finding: Finding | null;
  readonly message: string;
}

export const StatusNotification = new NotificationType<{ state: 'busy' | 'idle' }>('loopgrad/status');

/** Commands of the client that the server's code actions and lenses name. */
export const CONFIRM = 'loopgrad.confirm';
export const SHOW_EXPLANATION = 'loopgrad.showExplanation';

// How the steps of a story hang together: which piece of the tape goes where, and what happens to it.

import type { Finding, Step } from '../protocol';

/**
 * - `goes`: the graph goes along, within one iteration
 * - `carries`: it goes along into another iteration, or stays alive until then
 * - `frees`: a backward frees what the piece has saved
 * - `changes`: an in-place operation or a step changes what it has saved
 * - `retains`: a backward leaves it as it is
 * - `severed`: the graph ends here and does not reach the backward
 */
export type Kind = 'goes' | 'carries' | 'frees' | 'changes' | 'retains' | 'severed';

/** `from` and `to` are indices of actors. */
export interface Relation {
  readonly from: number;
  readonly to: number;
  readonly kind: Kind;
}

/** A step at its place in time: `null` is before the loop, or outside of any. */
export interface Actor {
  readonly step: number;
  readonly role: Step['role'];
  readonly iteration: number | null;
  /** One of the repetitions that show growth: nothing of its own to say. */
  readonly ghost: boolean;
}

/** So many iterations show that something grows. */
export const GROWTH_SHOWN = 3;

export interface Cast {
  readonly actors: readonly Actor[];
  readonly relations: readonly Relation[];
  readonly grows: boolean;
}

export function cast(finding: Finding): Cast {
  const grows = finding.outcome === 'grows' && finding.story.every((step) => step.iteration === null);
  const { story } = finding;
  if (!grows) {
    const actors = story.map((step, index) => actor(step, index, step.iteration, false));
    return { actors, relations: relate(actors), grows };
  }
  const actors: Actor[] = [];
  const relations: Relation[] = [];
  for (let iteration = 1; iteration <= GROWTH_SHOWN && story.length > 0; iteration += 1) {
    const first = actors.length;
    const own = story.map((step, index) => actor(step, index, iteration, iteration > 1));
    actors.push(...own);
    relations.push(...relate(own).map(({ from, to, kind }) => ({ from: from + first, to: to + first, kind })));
    if (iteration > 1) relations.push(...alive(own, first, story.length));
  }
  return { actors, relations, grows };
}

function actor(step: Step, index: number, iteration: number | null, ghost: boolean): Actor {
  return { step: index, role: step.role, iteration, ghost };
}

/** What an iteration stores stays there in the next one, beside that one's own. */
function alive(own: readonly Actor[], first: number, size: number): Relation[] {
  const stored = indices(own, 'stored', 'carried');
  const keepers = stored.length > 0 ? stored : indices(own, 'built');
  return keepers.map((index) => ({ from: first - size + index, to: first + index, kind: 'carries' }));
}

function relate(actors: readonly Actor[]): Relation[] {
  const built = indices(actors, 'built');
  const holders = indices(actors, 'carried', 'stored');
  const reached = indices(actors, 'reached');
  const freed = indices(actors, 'freed');
  const sources = holders.length > 0 ? holders : built;
  const relations: Relation[] = [];
  const add = (from: number[], to: number[], kind: Kind): void => {
    for (const one of from) for (const other of to) if (one !== other) relations.push({ from: one, to: other, kind });
  };
  add(built, holders, 'goes');
  add(freed, built, 'frees');
  add(indices(actors, 'modified'), built, 'changes');
  add(indices(actors, 'retained'), built, 'retains');
  add(indices(actors, 'cut'), reached, 'severed');
  add(sources, reached, 'carries');
  // The backward that frees has itself reached what was there before.
  const earlier = sources.filter((source) => freed.some((each) => iterationOf(actors, each) !== iterationOf(actors, source)));
  add(earlier, freed, 'goes');
  return relations.map((each) =>
    each.kind === 'carries' && iterationOf(actors, each.from) === iterationOf(actors, each.to) ? { ...each, kind: 'goes' } : each,
  );
}

function indices(actors: readonly Actor[], ...roles: Step['role'][]): number[] {
  return actors.flatMap((each, index) => (roles.includes(each.role) ? [index] : []));
}

function iterationOf(actors: readonly Actor[], index: number): number | null {
  return actors[index]?.iteration ?? null;
}

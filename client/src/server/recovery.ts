// After a crash: start again, later each time, and stop trying where that is no use.

/** Crashes within `WINDOW` milliseconds count together. */
export const WINDOW = 5 * 60_000;

const DELAYS = [0, 1_000, 4_000, 15_000];

export class Recovery {
  private crashes: number[] = [];

  /** Milliseconds to wait before the next start, or undefined: give up. `now` is in milliseconds. */
  crashed(now: number): number | undefined {
    this.crashes = this.crashes.filter((time) => now - time < WINDOW);
    this.crashes.push(now);
    return DELAYS[this.crashes.length - 1];
  }

  /** The user has restarted it: what was before does not count. */
  reset(): void {
    this.crashes = [];
  }
}

// Restarts, one after the other: many requests at once become one.

export interface Request {
  /** Restart even if the same server would be started again. */
  readonly force: boolean;
}

/**
 * Runs `restart` for each request, never twice at a time. Requests that come while one runs are joined: one more run
 * follows, which sees the settings as they are by then.
 */
export class RestartQueue {
  private running: Promise<void> | undefined;
  private waiting: { force: boolean; done: Promise<void> } | undefined;
  private closed = false;

  constructor(private readonly restart: (request: Request) => Promise<void>) {}

  /** Ends when a run has ended that began after this call. */
  request(request: Request = { force: false }): Promise<void> {
    if (this.closed) return Promise.resolve();
    if (this.waiting) {
      this.waiting.force ||= request.force;
      return this.waiting.done;
    }
    if (this.running) {
      const waiting = { force: request.force, done: this.running.then(() => this.next()) };
      this.waiting = waiting;
      return waiting.done;
    }
    return this.run(request);
  }

  /** Lets the run in progress end, and starts no other. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  private next(): Promise<void> {
    const force = this.waiting?.force ?? false;
    this.waiting = undefined;
    return this.closed ? Promise.resolve() : this.run({ force });
  }

  private run(request: Request): Promise<void> {
    // A failed restart has told the user; the next one starts from there.
    const run = this.restart(request).catch(() => undefined);
    const ended: Promise<void> = run.finally(() => {
      if (this.running === ended) this.running = undefined;
    });
    this.running = ended;
    return ended;
  }
}

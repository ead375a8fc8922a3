import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Recovery, WINDOW } from '../src/server/recovery';
import { type Request, RestartQueue } from '../src/server/restarts';

/** Restarts that end when the test says so. */
class Slow {
  readonly begun: Request[] = [];
  private end: (() => void) | undefined;
  running = 0;

  readonly restart = async (request: Request): Promise<void> => {
    this.begun.push(request);
    this.running += 1;
    assert.equal(this.running, 1, 'two at a time');
    await new Promise<void>((resolve) => (this.end = resolve));
    this.running -= 1;
  };

  async finish(): Promise<void> {
    this.end?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('requests that come while one runs become one more', async () => {
  const slow = new Slow();
  const queue = new RestartQueue(slow.restart);
  const all = [queue.request(), queue.request(), queue.request({ force: true }), queue.request()];
  assert.equal(slow.begun.length, 1);
  await slow.finish();
  assert.deepEqual(slow.begun, [{ force: false }, { force: true }]);
  await slow.finish();
  await Promise.all(all);
  assert.equal(slow.begun.length, 2);
});

test('a request ends when a restart has ended that began after it', async () => {
  const slow = new Slow();
  const queue = new RestartQueue(slow.restart);
  const ended: string[] = [];
  const first = queue.request().then(() => ended.push('first'));
  const second = queue.request().then(() => ended.push('second'));
  await slow.finish();
  assert.deepEqual(ended, ['first']);
  await slow.finish();
  await Promise.all([first, second]);
  assert.deepEqual(ended, ['first', 'second']);
});

test('a failed restart does not stop the next', async () => {
  let count = 0;
  const queue = new RestartQueue(() => {
    count += 1;
    return count === 1 ? Promise.reject(new Error('no')) : Promise.resolve();
  });
  await Promise.all([queue.request(), queue.request()]);
  await queue.request();
  assert.equal(count, 3);
});

test('closing waits for the one that runs and starts no other', async () => {
  const slow = new Slow();
  const queue = new RestartQueue(slow.restart);
  const requests = [queue.request(), queue.request()];
  const closed = queue.close();
  await slow.finish();
  await Promise.all([...requests, closed, queue.request()]);
  assert.equal(slow.begun.length, 1);
});

test('a server that crashes is started again later each time, and then no more', () => {
  const recovery = new Recovery();
  const delays = [0, 1, 2, 3, 4].map((second) => recovery.crashed(second * 1000));
  assert.deepEqual(delays, [0, 1_000, 4_000, 15_000, undefined]);
});

test('crashes of long ago do not count, nor those before a restart by hand', () => {
  const recovery = new Recovery();
  for (let index = 0; index < 4; index += 1) recovery.crashed(index);
  assert.equal(recovery.crashed(WINDOW + 10), 0);
  for (let index = 0; index < 4; index += 1) recovery.crashed(WINDOW + 11);
  recovery.reset();
  assert.equal(recovery.crashed(WINDOW + 12), 0);
});

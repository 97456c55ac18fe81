import { afterEach, expect, test, vi } from 'vitest';
import { Ring, controlWord } from '../../../plugins/log/disk/ring.ts';

const { store, exchange, notify } = Atomics;

/** Steps of a thread that writes two frames, and tells whoever waits after each. */
function* writeFrames({ control }: Ring): Generator<void> {
  for (const end of [16, 32]) {
    store(control, controlWord.done, end);
    yield;
    if (exchange(control, controlWord.isAwaited, 0) === 1) notify(control, controlWord.done);
    yield;
  }
}

afterEach(() => vi.restoreAllMocks());

const before = ['waitAsync', 'store', 'load'] as const;
const orders = before.flatMap((call) => [0, 1, 2, 3, 4].map((steps) => ({ call, steps })));

test.each(orders)(
  'a wait for a frame is not missed by a thread that comes $steps steps far before $call',
  async ({ call, steps }) => {
    const ring = new Ring();
    const thread = writeFrames(ring);
    const original = Atomics[call] as (...values: unknown[]) => unknown;
    const { done } = ring;
    vi.spyOn(Atomics, call).mockImplementationOnce(((...values: unknown[]) => {
      for (let step = 0; step < steps; step++) thread.next();
      return original(...values);
    }) as never);
    const written = ring.awaitNextWrite(done);
    vi.restoreAllMocks();
    for (const _ of thread);
    await written;
    expect(ring.done).toBe(32);
  },
);

test.each([2 ** 19 + 8, 2 ** 30, 2 ** 31 - 8, 2 ** 31, 2 ** 31 + 8, 2 ** 32 - 2 ** 20])(
  'a position counts as written when %d bytes have followed it',
  (distance) => {
    const ring = new Ring();
    for (const place of [controlWord.head, controlWord.done]) store(ring.control, place, distance | 0);
    expect(ring.hasWritten(0)).toBe(true);
    ring.append(1, Buffer.from('line\n'), 0, 5);
    expect([ring.hasWritten(0), ring.hasWritten(ring.head)]).toEqual([true, false]);
  },
);

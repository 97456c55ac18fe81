import { randomUUID } from 'node:crypto';
import type { CacheEntry, Shared } from '#core/shared/shared.ts';
import { firstOrLate } from '#core/timing/deadline.ts';

/** Seconds after which a leader that died is replaced, and how often a living one says that it lives. */
const claimLifetime = 15;
const extendInterval = 5;
/** Ms between looks of those who wait, in case the leader's signal is lost, and ms that they wait at most. */
const pollInterval = 500;
const maxWait = 120_000;

/** The one exchange among identical ones that asks the upstream, while the others wait for its answer. */
export interface Lead {
  /** Stores the answer and wakes the others; one that cannot be stored frees them. */
  store(value: Buffer, seconds: number): Promise<void>;
  /** Gives the lead up without an answer, though there may be one: one of the others takes over. */
  handOver(): Promise<void>;
  /**
   * Gives the lead up because its answer failed or cannot be kept: all the others go on by themselves at once. Theirs are
   * likely to end the same way, and one after another they would wait for all of them.
   */
  free(): Promise<void>;
}

/** What those who wait are told: to look again, or not to wait any longer. */
type Signal = 'look' | 'go';

/**
 * Gets an entry, or the lead to make it.
 *
 * @throws SharedUnavailable
 * @returns undefined when neither came in time, the leader has freed the others, or the exchange is over: then everyone is
 * on his own
 */
export async function join(shared: Shared, key: string, signal: AbortSignal): Promise<CacheEntry | Lead | undefined> {
  const owner = randomUUID();
  const found = await look(shared, key, owner);
  if (found !== undefined) return found;
  const until = performance.now() + maxWait;
  let landed = Promise.withResolvers<Signal>();
  const unsubscribe = await shared.events.subscribe(channel(key), (told) =>
    landed.resolve(told === 'go' ? 'go' : 'look'),
  );
  try {
    while (!signal.aborted && performance.now() < until) {
      // Armed before the look: who lands during it has been heard.
      landed = Promise.withResolvers();
      const later = await look(shared, key, owner);
      if (later !== undefined) return later;
      if ((await firstOrLate([landed.promise], pollInterval, signal)) === 'go') return undefined;
    }
    return undefined;
  } finally {
    unsubscribe();
  }
}

async function look(shared: Shared, key: string, owner: string): Promise<CacheEntry | Lead | undefined> {
  const entry = await shared.cache.get(key);
  if (entry !== undefined) return entry;
  try {
    if (!(await shared.cache.claim(key, owner, claimLifetime))) return undefined;
    // Another leader may have landed between the look and the claim.
    const late = await shared.cache.get(key);
    if (late === undefined) return takeLead(shared, key, owner);
    await land(shared, key, owner, 'look');
    return late;
  } catch (error) {
    // A store that was only late may have given the claim all the same.
    land(shared, key, owner, 'look').catch(() => undefined);
    throw error;
  }
}

function takeLead(shared: Shared, key: string, owner: string): Lead {
  // A claim that could not be extended is another's: two leaders cost a call, nothing else.
  const extend = () => void shared.cache.extend(key, owner, claimLifetime).catch(() => undefined);
  const timer = setInterval(extend, extendInterval * 1000).unref();
  const giveUp = (told: Signal) => {
    clearInterval(timer);
    return land(shared, key, owner, told);
  };
  return {
    async store(value, seconds) {
      let told: Signal = 'go';
      try {
        await shared.cache.set(key, value, seconds);
        told = 'look';
      } finally {
        await giveUp(told);
      }
    },
    handOver: () => giveUp('look'),
    free: () => giveUp('go'),
  };
}

/** Gives the claim back and wakes those who wait for it. */
async function land({ cache, events }: Shared, key: string, owner: string, told: Signal): Promise<void> {
  await cache.release(key, owner);
  await events.publish(channel(key), told);
}

const channel = (key: string) => `cache:${key}`;

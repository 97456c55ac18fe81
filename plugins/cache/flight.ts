import { randomUUID } from 'node:crypto';
import type { CacheEntry, Shared } from '#core/platform/shared/shared.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';

/** Lifetime of a claim, and interval of its extension by a live leader. */
const claimLifetimeSeconds = 15;
const extendIntervalSeconds = 5;
/** Interval at which followers check the store, in case a signal was lost. */
const pollIntervalMs = 500;
/** Maximum wait of a follower. */
const maxWaitMs = 120_000;

/** The right to call the upstream. Its holder leads several identical exchanges, and the others wait as followers. */
export interface FlightLead {
  /** Stores the reply and wakes the followers. Frees them if the store fails. */
  store(value: Buffer, seconds: number): Promise<void>;
  /** Ends the lead because its client disconnected. One of the followers takes over. */
  handOver(): Promise<void>;
  /**
   * Ends the lead because its reply failed or cannot be cached. All followers make their own calls immediately. Their replies
   * would probably fail as well, and with successive leaders each follower would wait for all calls before it.
   */
  freeFollowers(): Promise<void>;
}

/** A leader's signal to its followers: `look` to check the store, `go` to make their own calls. */
type LeaderSignal = 'look' | 'go';

const createChannelName = (key: string) => `cache:${key}`;

/**
 * Gets a cached entry, or the lead to create it.
 *
 * @throws SharedUnavailable
 * @returns undefined on timeout, if the leader freed its followers, or if the exchange is over; the caller then makes its own call
 */
export async function joinFlight(
  shared: Shared,
  key: string,
  signal: AbortSignal,
): Promise<CacheEntry | FlightLead | undefined> {
  const owner = randomUUID();
  const firstResult = await lookUp(shared, key, owner);
  if (firstResult !== undefined) return firstResult;
  const deadline = performance.now() + maxWaitMs;
  let leaderSignal = Promise.withResolvers<LeaderSignal>();
  const unsubscribe = await shared.events.subscribe(createChannelName(key), (message) =>
    leaderSignal.resolve(message === 'go' ? 'go' : 'look'),
  );
  try {
    while (!signal.aborted && performance.now() < deadline) {
      // Created before the lookup, so that a signal during it is not missed.
      leaderSignal = Promise.withResolvers();
      const result = await lookUp(shared, key, owner);
      if (result !== undefined) return result;
      if ((await waitForFirst([leaderSignal.promise], pollIntervalMs, signal)) === 'go') return undefined;
    }
    return undefined;
  } finally {
    unsubscribe();
  }
}

async function lookUp(shared: Shared, key: string, owner: string): Promise<CacheEntry | FlightLead | undefined> {
  const entry = await shared.cache.get(key);
  if (entry !== undefined) return entry;
  try {
    if (!(await shared.cache.claim(key, owner, claimLifetimeSeconds))) return undefined;
    // Another leader may have stored a reply between the lookup and the claim.
    const storedMeanwhile = await shared.cache.get(key);
    if (storedMeanwhile === undefined) return createLead(shared, key, owner);
    await endLead(shared, key, owner, 'look');
    return storedMeanwhile;
  } catch (error) {
    // A store that timed out may have granted the claim.
    endLead(shared, key, owner, 'look').catch(() => undefined);
    throw error;
  }
}

function createLead(shared: Shared, key: string, owner: string): FlightLead {
  // Another exchange takes over a claim that could not be extended. Two leaders only cost an additional call.
  const extend = () => {
    shared.cache.extend(key, owner, claimLifetimeSeconds).catch(() => undefined);
  };
  const timer = setInterval(extend, extendIntervalSeconds * 1000).unref();
  const endWith = (leaderSignal: LeaderSignal) => {
    clearInterval(timer);
    return endLead(shared, key, owner, leaderSignal);
  };
  return {
    async store(value, seconds) {
      let leaderSignal: LeaderSignal = 'go';
      try {
        await shared.cache.set(key, value, seconds);
        leaderSignal = 'look';
      } finally {
        await endWith(leaderSignal);
      }
    },
    handOver: () => endWith('look'),
    freeFollowers: () => endWith('go'),
  };
}

async function endLead(
  { cache, events }: Shared,
  key: string,
  owner: string,
  leaderSignal: LeaderSignal,
): Promise<void> {
  await cache.release(key, owner);
  await events.publish(createChannelName(key), leaderSignal);
}

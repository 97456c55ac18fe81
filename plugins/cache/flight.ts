import { randomUUID } from 'node:crypto';
import type { CacheEntry, Shared } from '#core/platform/shared/shared.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';

const claimLifetimeSeconds = 15; // unless its leader extends it
const extendIntervalSeconds = 5;
const pollIntervalMs = 500; // in case a signal was lost
const maxFollowerWaitMs = 120_000;

/**
 * The right to call the upstream on behalf of several identical exchanges. The others wait as followers. The holder must end it with exactly
 * one of these calls; until then, its claim is extended.
 */
export interface FlightLead {
  /** Stores the reply and wakes the followers. If the store fails, they make their own calls. */
  store(value: Buffer, lifetimeSeconds: number): Promise<void>;
  /** Ends the lead because its client disconnected. One of the followers takes over. */
  handOver(): Promise<void>;
  /**
   * Ends the lead because its reply failed or cannot be cached. All followers make their own calls immediately. Their calls would probably
   * fail too, and if they took turns as leader, each follower would have to wait for every call ahead of it.
   */
  freeFollowers(): Promise<void>;
}

type LeaderSignal = 'look' | 'go'; // `look`: check the store; `go`: make your own call

const createChannelName = (key: string) => `cache:${key}`;

/**
 * Returns the cached entry, or a lead that lets the caller create it.
 *
 * @throws SharedUnavailable
 * @returns undefined on timeout, if the leader freed its followers, or if the exchange is over; the caller then makes its own call
 */
export async function joinFlight(
  shared: Shared,
  key: string,
  abortSignal: AbortSignal,
): Promise<CacheEntry | FlightLead | undefined> {
  const owner = randomUUID();
  const firstResult = await lookUpOrClaim(shared, key, owner);
  if (firstResult !== undefined) return firstResult;
  const deadline = performance.now() + maxFollowerWaitMs;
  let nextSignal = Promise.withResolvers<LeaderSignal>();
  const unsubscribe = await shared.events.subscribe(createChannelName(key), (message) =>
    nextSignal.resolve(message === 'go' ? 'go' : 'look'),
  );
  try {
    while (!abortSignal.aborted && performance.now() < deadline) {
      // Created before the lookup, so that a signal that arrives during it is not missed.
      nextSignal = Promise.withResolvers();
      const result = await lookUpOrClaim(shared, key, owner);
      if (result !== undefined) return result;
      if ((await waitForFirst([nextSignal.promise], pollIntervalMs, abortSignal)) === 'go') return undefined;
    }
    return undefined;
  } finally {
    unsubscribe();
  }
}

/** Returns undefined while another exchange holds the claim. */
async function lookUpOrClaim(shared: Shared, key: string, owner: string): Promise<CacheEntry | FlightLead | undefined> {
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
    // The claim may have been granted even though the store timed out.
    endLead(shared, key, owner, 'look').catch(() => undefined);
    throw error;
  }
}

function createLead(shared: Shared, key: string, owner: string): FlightLead {
  // If extending fails, the claim expires and another exchange takes over. Two leaders only cost an extra call.
  const extend = () => {
    shared.cache.extend(key, owner, claimLifetimeSeconds).catch(() => undefined);
  };
  const timer = setInterval(extend, extendIntervalSeconds * 1000).unref();
  const endWith = (leaderSignal: LeaderSignal) => {
    clearInterval(timer);
    return endLead(shared, key, owner, leaderSignal);
  };
  return {
    async store(value, lifetimeSeconds) {
      let leaderSignal: LeaderSignal = 'go';
      try {
        await shared.cache.set(key, value, lifetimeSeconds);
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

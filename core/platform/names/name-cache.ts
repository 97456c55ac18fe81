import type { LookupAddress } from 'node:dns';
import { bounds } from '../bounds.ts';
import type { Logger } from '../logger.ts';
import { waitForFirst, notSettled, withDeadline } from '../timing/deadline.ts';
import { Throttle } from '../timing/throttle.ts';

/** A host name with the options of `dns.lookup` that affect the result. */
export interface LookupRequest {
  readonly hostname: string;
  readonly family: number; // 0: both
  readonly hints: number;
  readonly order: 'ipv4first' | 'ipv6first' | 'verbatim' | undefined;
}

/** Resolves a name with the system's resolver. Rejects with the system's error, which has a `code`. */
export type Resolve = (request: LookupRequest) => Promise<readonly LookupAddress[]>;

const timesMs = {
  fresh: 30_000, // a result is used without another lookup; getaddrinfo does not return the TTL
  stale: 3_600_000, // longer than `fresh`, while lookups are slow or fail
  slow: 200, // callers wait for a lookup, then get the cached result
  deadline: 5_000, // callers without a cached result wait, then get an error
  pause: 5_000, // after a failed lookup, while the cached result is used
  lost: 120_000, // a lookup counts as lost, so that another may start
  logInterval: 60_000,
  alarm: 60_000, // a name that has failed for this long is reported, if it was used within `inUse`
  inUse: 300_000,
};

/** Thrown if a name has no address, or was not resolved in time. `code` and `syscall` are getaddrinfo's. */
export class NameError extends Error {
  override readonly name = 'NameError';
  readonly syscall = 'getaddrinfo';
  readonly code: string;
  readonly hostname: string;

  /** @param failure getaddrinfo's error; undefined after a timeout */
  constructor(hostname: string, failure?: unknown) {
    const code = failure instanceof Error && 'code' in failure ? String(failure.code) : 'EAI_AGAIN';
    const reason = failure === undefined ? 'the name server has not responded' : code;
    super(`the name "${hostname}" could not be resolved: ${reason}`, { cause: failure });
    this.code = code;
    this.hostname = hostname;
  }
}

interface Entry {
  addresses: readonly LookupAddress[];
  resolvedAt: number; // performance.now(), like the other times here
  refreshAt: number;
  lookup: { readonly startedAt: number; readonly result: Promise<unknown> } | undefined;
  usedAt: number;
  failingSince: number | undefined;
  readonly logThrottle: Throttle;
}

/**
 * Resolves and caches host names. At most one lookup of a name is in flight at a time. Cached names survive a slow or unreachable name
 * server for an hour.
 */
export class NameCache {
  readonly #resolve: Resolve;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor(resolve: Resolve, log: Logger) {
    this.#resolve = resolve;
    this.#log = log;
  }

  /** Returns the addresses of a name, from the cache if possible. Rejects with a NameError. */
  async find(request: LookupRequest): Promise<readonly LookupAddress[]> {
    const entry = this.#getEntry(request);
    const now = performance.now();
    entry.usedAt = now;
    if (now < entry.refreshAt) return entry.addresses;
    entry.lookup ??= { startedAt: now, result: this.#lookUp(request, entry) };
    const { startedAt, result } = entry.lookup;
    const waitMs = isUsable(entry) ? startedAt + timesMs.slow - now : timesMs.deadline;
    const failure = waitMs > 0 ? await waitForFirst([result], waitMs) : notSettled;
    if (isUsable(entry)) return entry.addresses;
    throw new NameError(request.hostname, failure === notSettled ? undefined : failure);
  }

  expire(hostname: string): void {
    for (const [key, entry] of this.#entries) if (key.startsWith(`${hostname} `)) entry.refreshAt = 0;
  }

  /** Returns when the lookups began to fail (performance.now()), for each name in use that has been failing for at least a minute. */
  listFailures(): number[] {
    const now = performance.now();
    return this.#entries
      .values()
      .filter((entry) => isUsable(entry) && now - entry.usedAt < timesMs.inUse)
      .map(({ failingSince, lookup }) => failingSince ?? lookup?.startedAt ?? now)
      .filter((since) => now - since >= timesMs.alarm)
      .toArray();
  }

  /** Returns the error of a failed lookup, and never rejects. */
  async #lookUp(request: LookupRequest, entry: Entry): Promise<unknown> {
    const startedAt = performance.now();
    try {
      const addresses = await withDeadline(this.#resolve(request), timesMs.lost, 'no answer');
      const now = performance.now();
      if (now - startedAt > timesMs.deadline) this.#reportCachedUse(request, entry, 'the name server is slow');
      Object.assign(entry, {
        addresses,
        resolvedAt: now,
        refreshAt: now + timesMs.fresh,
        failingSince: undefined,
      } satisfies Partial<Entry>);
      return undefined;
    } catch (error) {
      this.#reportCachedUse(request, entry, new NameError(request.hostname, error).code);
      entry.failingSince ??= startedAt;
      if (isUsable(entry)) entry.refreshAt = performance.now() + timesMs.pause;
      return error;
    } finally {
      entry.lookup = undefined;
    }
  }

  #reportCachedUse({ hostname }: LookupRequest, entry: Entry, reason: string): void {
    if (!isUsable(entry) || !entry.logThrottle.tryPass()) return;
    const ageSeconds = Math.round((performance.now() - entry.resolvedAt) / 1000);
    this.#log.warn(
      `the name "${hostname}" could not be resolved in time (${reason}); its addresses from ${ageSeconds} s ago stay in use for up to an hour`,
    );
  }

  #getEntry({ hostname, family, hints, order }: LookupRequest): Entry {
    const key = `${hostname} ${family} ${hints} ${order}`;
    const existing = this.#entries.get(key);
    if (existing !== undefined) return existing;
    const oldest = this.#entries.size < bounds.names ? undefined : this.#entries.keys().next().value;
    if (oldest !== undefined) this.#entries.delete(oldest);
    const entry = createEntry();
    this.#entries.set(key, entry);
    return entry;
  }
}

function createEntry(): Entry {
  const unset = { resolvedAt: 0, refreshAt: 0, usedAt: 0, lookup: undefined, failingSince: undefined };
  return { addresses: [], ...unset, logThrottle: new Throttle(timesMs.logInterval) };
}

function isUsable({ addresses, resolvedAt }: Entry): boolean {
  return addresses.length > 0 && performance.now() < resolvedAt + timesMs.fresh + timesMs.stale;
}

import type { LookupAddress } from 'node:dns';
import { bounds } from '../bounds.ts';
import type { Logger } from '../logger.ts';
import { firstOrTimeout, timedOut, withDeadline } from '../timing/deadline.ts';
import { Throttle } from '../timing/throttle.ts';

/** A host name with the options of `dns.lookup` that affect the result. */
export interface Question {
  readonly hostname: string;
  readonly family: number; // 0: both
  readonly hints: number;
  readonly order: 'ipv4first' | 'ipv6first' | 'verbatim' | undefined;
}

/** Asks the system. Rejects with the system's error, which has a `code`. */
export type Resolve = (question: Question) => Promise<readonly LookupAddress[]>;

/** Ms. */
const times = {
  /** How long a result is used without another lookup. getaddrinfo does not return the TTL. */
  fresh: 30_000,
  /** How much longer it is used while lookups are slow or fail. */
  stale: 3_600_000,
  /** When a lookup counts as slow: callers then get the cached result. */
  slow: 200,
  /** When callers without a cached result get an error. */
  deadline: 5_000,
  /** Pause after a failed lookup, while the cached result is used. */
  pause: 5_000,
  /** When a lookup counts as lost, and another may start. */
  lost: 120_000,
  logInterval: 60_000,
  /** A name that has failed for this long is reported, if it was used within `inUse`. */
  alarm: 60_000,
  inUse: 300_000,
};

/** A name without an address, or one that was not resolved in time. `code` and `syscall` are getaddrinfo's. */
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
  answeredAt: number; // performance.now(), like the other times here
  askAgainAt: number;
  lookup: { readonly startedAt: number; readonly result: Promise<unknown> } | undefined;
  usedAt: number;
  failingSince: number | undefined;
  readonly logging: Throttle;
}

/**
 * Addresses of host names as returned by the system. At most one lookup of a name is in flight at a time. The last result is cached: a slow
 * or unreachable name server does not affect known names for an hour.
 */
export class Names {
  readonly #resolve: Resolve;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor(resolve: Resolve, log: Logger) {
    this.#resolve = resolve;
    this.#log = log;
  }

  /** @throws NameError */
  async find(question: Question): Promise<readonly LookupAddress[]> {
    const entry = this.#entryOf(question);
    const now = performance.now();
    entry.usedAt = now;
    if (now < entry.askAgainAt) return entry.addresses;
    entry.lookup ??= { startedAt: now, result: this.#ask(question, entry) };
    const { startedAt, result } = entry.lookup;
    const wait = isUsable(entry) ? startedAt + times.slow - now : times.deadline;
    const failure = wait > 0 ? await firstOrTimeout([result], wait) : timedOut;
    if (isUsable(entry)) return entry.addresses;
    throw new NameError(question.hostname, failure === timedOut ? undefined : failure);
  }

  /** Makes the next use look the name up again. Call it if no connection could be opened to its addresses. */
  expire(hostname: string): void {
    for (const [key, entry] of this.#entries) if (key.startsWith(`${hostname} `)) entry.askAgainAt = 0;
  }

  /** Start of the failures (performance.now()) of each name in use that has failed for a minute while its cached result is used. */
  failing(): number[] {
    const now = performance.now();
    return this.#entries
      .values()
      .filter((entry) => isUsable(entry) && now - entry.usedAt < times.inUse)
      .map(({ failingSince, lookup }) => failingSince ?? lookup?.startedAt ?? now)
      .filter((since) => now - since >= times.alarm)
      .toArray();
  }

  /**
   * Looks a name up. Never rejects.
   *
   * @returns the error of a failed lookup
   */
  async #ask(question: Question, entry: Entry): Promise<unknown> {
    const startedAt = performance.now();
    try {
      const addresses = await withDeadline(this.#resolve(question), times.lost, 'no answer');
      const now = performance.now();
      if (now - startedAt > times.deadline) this.#reportCachedUse(question, entry, 'the name server is slow');
      Object.assign(entry, { addresses, answeredAt: now, askAgainAt: now + times.fresh, failingSince: undefined });
      return undefined;
    } catch (error) {
      this.#reportCachedUse(question, entry, new NameError(question.hostname, error).code);
      entry.failingSince ??= startedAt;
      if (isUsable(entry)) entry.askAgainAt = performance.now() + times.pause;
      return error;
    } finally {
      entry.lookup = undefined;
    }
  }

  #reportCachedUse({ hostname }: Question, entry: Entry, reason: string): void {
    if (!isUsable(entry) || !entry.logging.pass()) return;
    const age = Math.round((performance.now() - entry.answeredAt) / 1000);
    this.#log.warn(
      `the name "${hostname}" could not be resolved in time (${reason}); its addresses of ${age} s ago stay in use for up to an hour`,
    );
  }

  #entryOf({ hostname, family, hints, order }: Question): Entry {
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
  const never = { answeredAt: 0, askAgainAt: 0, usedAt: 0, lookup: undefined, failingSince: undefined };
  return { addresses: [], ...never, logging: new Throttle(times.logInterval) };
}

function isUsable({ addresses, answeredAt }: Entry): boolean {
  return addresses.length > 0 && performance.now() < answeredAt + times.fresh + times.stale;
}

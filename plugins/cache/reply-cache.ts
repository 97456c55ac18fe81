import { Readable } from 'node:stream';
import { cacheStatus, principal } from '#core/facts.ts';
import type { Logger } from '#core/logger.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { type CacheEntry, type Shared, SharedUnavailable } from '#core/shared/shared.ts';
import { Throttle } from '#core/timing/throttle.ts';
import { cacheKey } from './cache-key.ts';
import { collect } from './collector.ts';
import { join, type Lead } from './flight.ts';
import { decodeStored, encodeStored } from './stored-reply.ts';

export interface ReplyCacheOptions {
  readonly shared: Shared;
  readonly log: Logger;
  /** Bytes of the largest answer that is kept. */
  readonly maxBytes: number;
}

/** What an exchange owes to the others that wait for its answer. */
interface Duty {
  readonly lead: Lead;
  readonly seconds: number;
  isSettled: boolean;
}

const duty = defineFact<Duty>('cache_duty');
/** Ms for which the store is not asked after it failed, and between warnings about it. */
const restAfterFailure = 1_000;
const warnInterval = 60_000;

/**
 * The answers that clients have asked to be kept. An exchange that looks for one and finds none owes its own to those who
 * look for the same, until it has been kept or released.
 */
export class ReplyCache {
  readonly #options: ReplyCacheOptions;
  #restsUntil = 0; // on the clock of performance.now()
  readonly #warning = new Throttle(warnInterval);

  constructor(options: ReplyCacheOptions) {
    this.#options = options;
  }

  /** The answer that is kept for such a request; undefined when this exchange has to get one itself. */
  async look(exchange: Exchange, seconds: number): Promise<Reply | undefined> {
    if (performance.now() < this.#restsUntil) return undefined;
    // Throws for what is no JSON object.
    await exchange.body.json();
    const key = cacheKey(exchange, exchange.get(principal).accountId, await exchange.body.text());
    const found = await join(this.#options.shared, key, exchange.signal).catch((error) => this.#bypass(error));
    exchange.set(cacheStatus, 'miss');
    if (found === undefined) return undefined;
    if ('value' in found) {
      const stored = decodeStored(found.value);
      if (stored === undefined) return undefined;
      exchange.set(cacheStatus, 'hit');
      return { ...stored, headers: { ...stored.headers, ...cacheHeaders('hit', found) } };
    }
    exchange.set(duty, { lead: found, seconds, isSettled: false });
    return undefined;
  }

  /** Lets the answer through and stores it once all of it has passed. Undefined when nobody has asked for that. */
  keep(exchange: Exchange, reply: Reply): Reply | undefined {
    const owed = exchange.find(duty);
    if (owed === undefined) return undefined;
    if (reply.status !== 200) {
      // Also the way out of an exchange whose client left while the store was asked: it was released too early.
      this.#giveUp(exchange, owed);
      return undefined;
    }
    const headers = { ...reply.headers, ...cacheHeaders('miss', { age: 0, expiresIn: owed.seconds }) };
    const contentType = reply.headers['content-type'] ?? 'application/json';
    const { body } = reply;
    const { maxBytes } = this.#options;
    const store = (bytes: Buffer | undefined) => {
      if (bytes === undefined || bytes.length > maxBytes || exchange.failure !== undefined)
        this.#giveUp(exchange, owed);
      else this.#settle(owed, (lead) => lead.store(encodeStored(contentType, bytes), owed.seconds));
    };
    if (body instanceof Readable) return { ...reply, headers, body: collect(body, maxBytes, store) };
    store(typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)));
    return { ...reply, headers };
  }

  /** The exchange is over: who waits for its answer waits no longer. */
  release(exchange: Exchange): void {
    const owed = exchange.find(duty);
    if (owed !== undefined) this.#giveUp(exchange, owed);
  }

  /** A client that leaves says nothing about the answer: only then is it worth waiting for another one. */
  #giveUp(exchange: Exchange, owed: Duty): void {
    this.#settle(owed, (lead) => (exchange.isClientGone ? lead.handOver() : lead.free()));
  }

  /** Does what is owed, once. A store that fails costs nobody an answer. */
  #settle(owed: Duty, work: (lead: Lead) => Promise<void>): void {
    if (owed.isSettled) return;
    owed.isSettled = true;
    work(owed.lead).catch((error: unknown) => {
      if (error instanceof SharedUnavailable) this.#bypass(error);
      else this.#options.log.error('an answer could not be cached', error);
    });
  }

  /** Goes on without the store, and does not ask it for a while: every request would wait for it in vain. */
  #bypass(error: unknown): undefined {
    if (!(error instanceof SharedUnavailable)) throw error;
    this.#restsUntil = performance.now() + restAfterFailure;
    if (this.#warning.pass()) this.#options.log.warn(`answers are not cached: ${error.message}`);
  }
}

function cacheHeaders(
  status: 'hit' | 'miss',
  { age, expiresIn }: Pick<CacheEntry, 'age' | 'expiresIn'>,
): Record<string, string> {
  return {
    'x-service-cache': status,
    age: String(Math.floor(age)),
    'x-service-cache-expires-in': String(Math.ceil(expiresIn)),
  };
}

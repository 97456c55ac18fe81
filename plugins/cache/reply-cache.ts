import { Readable } from 'node:stream';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { type AnswerDigests, answerDigests, cachedCall, cacheStatus, principal } from '#core/gateway/facts.ts';
import { changedContent, readChangedContent } from '#core/gateway/pipeline/changed-body.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type CacheEntry, type Shared, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { computeCacheKey, findCalledModel } from './cache-key.ts';
import { joinFlight, type FlightLead } from './flight.ts';
import { collectWhilePassing, decodeStored, encodeStored } from './stored-reply.ts';

interface ReplyCacheOptions {
  readonly shared: Shared;
  readonly catalog: Catalog;
  readonly log: Logger;
  readonly maxBytes: number;
}

interface HeldLead {
  readonly lead: FlightLead;
  readonly seconds: number;
  isSettled: boolean;
}

const leadFact = defineFact<HeldLead>('cache_lead');
const warnIntervalMs = 60_000;

/**
 * Finds and stores cached replies. An exchange that finds none takes the lead. Identical exchanges wait until it stores its reply or gives
 * up the lead.
 */
export class ReplyCache {
  readonly #options: ReplyCacheOptions;
  readonly #warning = new Throttle(warnIntervalMs);

  constructor(options: ReplyCacheOptions) {
    this.#options = options;
  }

  /** Returns the cached reply to an identical request; undefined if this exchange must make the call. */
  async find(exchange: Exchange, seconds: number): Promise<Reply | undefined> {
    const { shared, catalog } = this.#options;
    const key = await computeCacheKey(exchange, catalog, exchange.get(principal).accountId);
    const entryOrLead = await joinFlight(shared, key, exchange.signal).catch((error) => this.#warnUnavailable(error));
    exchange.set(cacheStatus, 'miss');
    if (entryOrLead === undefined) return undefined;
    if ('value' in entryOrLead) return this.#createHit(exchange, entryOrLead);
    exchange.set(leadFact, { lead: entryOrLead, seconds, isSettled: false });
    return undefined;
  }

  async #createHit(exchange: Exchange, entry: CacheEntry): Promise<Reply | undefined> {
    const decoded = decodeStored(entry.value);
    if (decoded === undefined) return undefined;
    const { reply: stored, digests } = decoded;
    if (digests === undefined) readChangedContent(exchange, stored);
    else exchange.set(answerDigests, digests);
    exchange.set(cacheStatus, 'hit');
    const calledModel = await findCalledModel(exchange, this.#options.catalog);
    const isStream = stored.headers['content-type']?.startsWith('text/event-stream') === true;
    if (calledModel !== undefined) exchange.set(cachedCall, { ...calledModel, isStream });
    return { ...stored, headers: { ...stored.headers, ...createCacheHeaders('hit', entry) } };
  }

  /** Returns the reply, which is stored once it is complete; undefined if it must not be cached. */
  store(exchange: Exchange, reply: Reply): Reply | undefined {
    const heldLead = exchange.find(leadFact);
    if (heldLead === undefined) return undefined;
    if (reply.status !== 200) {
      // The client may have disconnected during the lookup. `release` then ran before the exchange got the lead.
      this.#endLead(exchange, heldLead);
      return undefined;
    }
    const headers = { ...reply.headers, ...createCacheHeaders('miss', { age: 0, expiresIn: heldLead.seconds }) };
    const contentType = reply.headers['content-type'] ?? 'application/json';
    const { body } = reply;
    const { maxBytes } = this.#options;
    const onBody = (bytes: Buffer | undefined) => {
      if (bytes === undefined || bytes.length > maxBytes || exchange.failure !== undefined) {
        this.#endLead(exchange, heldLead);
        return;
      }
      const stored = encodeStored(contentType, bytes, findDigests(exchange));
      this.#settle(heldLead, (lead) => lead.store(stored, heldLead.seconds));
    };
    if (body instanceof Readable) return { ...reply, headers, body: collectWhilePassing(body, maxBytes, onBody) };
    onBody(typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)));
    return { ...reply, headers };
  }

  release(exchange: Exchange): void {
    const heldLead = exchange.find(leadFact);
    if (heldLead !== undefined) this.#endLead(exchange, heldLead);
  }

  /** Hands the lead to a follower if only the client disconnected. Otherwise frees the followers, because no reply will be stored. */
  #endLead(exchange: Exchange, heldLead: HeldLead): void {
    this.#settle(heldLead, (lead) => (exchange.isClientGone ? lead.handOver() : lead.freeFollowers()));
  }

  /** A failure of the store is only logged, because the client gets its reply anyway. */
  #settle(heldLead: HeldLead, endFlight: (lead: FlightLead) => Promise<void>): void {
    if (heldLead.isSettled) return;
    heldLead.isSettled = true;
    endFlight(heldLead.lead).catch((error: unknown) => {
      if (error instanceof SharedUnavailable) this.#warnUnavailable(error);
      else this.#options.log.error('could not cache a response', error);
    });
  }

  #warnUnavailable(error: unknown): undefined {
    if (!(error instanceof SharedUnavailable)) throw error;
    if (this.#warning.tryPass()) this.#options.log.warn(`responses are not cached: ${error.message}`);
  }
}

/** Returns undefined if a stage has changed the content, which must then be digested each time the reply is sent. */
function findDigests(exchange: Exchange): AnswerDigests | undefined {
  return exchange.find(changedContent) === undefined ? exchange.find(answerDigests) : undefined;
}

function createCacheHeaders(
  status: 'hit' | 'miss',
  { age, expiresIn }: Pick<CacheEntry, 'age' | 'expiresIn'>,
): Record<string, string> {
  return {
    'x-service-cache': status,
    age: String(Math.floor(age)),
    'x-service-cache-expires-in': String(Math.ceil(expiresIn)),
  };
}

import { Readable } from 'node:stream';
import { bounds } from '#core/bounds.ts';
import { GatewayError } from '#core/errors.ts';
import { cacheStatus, principal } from '#core/facts.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { type CacheEntry, SharedUnavailable } from '#core/shared/shared.ts';
import { cacheKey } from './cache-key.ts';
import { collect } from './collector.ts';
import { join, type Lead } from './flight.ts';
import { decodeStored, encodeStored } from './stored-reply.ts';

/** What an exchange owes to the others that wait for its answer. */
interface Duty {
  readonly lead: Lead;
  readonly seconds: number;
  isSettled: boolean;
}

const duty = defineFact<Duty>('cache_duty');
const header = 'x-service-cache';
/** Ms for which the store is not asked after it failed, and between warnings about it. */
const restAfterFailure = 1_000;
const warnInterval = 60_000;

/**
 * Keeps answers for clients that ask for it with `X-Service-Cache: SECONDS`, for each account by itself. Identical
 * requests at the same time cause one call of an upstream: the others wait for its answer.
 *
 * @throws GatewayError `invalid_request` when the header is no whole number of seconds within bounds
 */
export const cacheStage = defineStage({
  name: 'cache',
  description: 'Keeps answers for clients that ask for it with the header X-Service-Cache: SECONDS.',
  reads: [principal],
  writes: [cacheStatus],
  options: {
    type: 'object',
    properties: {
      max_age: {
        type: 'integer',
        minimum: 1,
        maximum: 31_536_000,
        default: 86_400,
        description: 'Seconds that a client may ask for at most.',
      },
      max_bytes: {
        type: 'integer',
        minimum: 1,
        maximum: bounds.cachedReply,
        default: 1_048_576,
        description: 'Bytes of the largest answer that is kept.',
      },
    },
    additionalProperties: false,
  },
  create({ max_age, max_bytes }, { shared, log }) {
    let restsUntil = 0;
    let quietUntil = 0;
    return {
      enter(exchange) {
        const asked = exchange.headers[header];
        if (asked === undefined || exchange.format === undefined || !exchange.endpoint.isMetered) return;
        return look(exchange, readSeconds(String(asked), max_age));
      },
      leave(exchange, reply) {
        const owed = exchange.find(duty);
        if (owed === undefined) return;
        // Also the way out of an exchange whose client left while the store was asked: its `done` came too early.
        if (reply.status !== 200) return void settle(owed, undefined);
        return keep(exchange, reply, owed);
      },
      done(exchange) {
        const owed = exchange.find(duty);
        if (owed !== undefined) settle(owed, undefined);
      },
    };

    async function look(exchange: Exchange, seconds: number): Promise<Reply | undefined> {
      if (performance.now() < restsUntil) return undefined;
      // Throws for what is no JSON object.
      await exchange.body.json();
      const key = cacheKey(exchange, exchange.get(principal).accountId, await exchange.body.text());
      const found = await join(shared, key, exchange.signal).catch(bypass);
      if (found === undefined) return undefined;
      if ('value' in found) {
        const stored = decodeStored(found.value);
        if (stored !== undefined) {
          exchange.set(cacheStatus, 'hit');
          return { ...stored, headers: { ...stored.headers, ...cacheHeaders('hit', found) } };
        }
        return undefined;
      }
      exchange.set(cacheStatus, 'miss');
      exchange.set(duty, { lead: found, seconds, isSettled: false });
      return undefined;
    }

    /** Lets the answer through and stores it once all of it has passed. */
    function keep(exchange: Exchange, reply: Reply, owed: Duty): Reply {
      const headers = { ...reply.headers, ...cacheHeaders('miss', { age: 0, expiresIn: owed.seconds }) };
      const contentType = reply.headers['content-type'] ?? 'application/json';
      const { body } = reply;
      const store = (bytes: Buffer | undefined) => {
        const isFit = bytes !== undefined && bytes.length <= max_bytes && exchange.failure === undefined;
        settle(owed, isFit ? encodeStored(contentType, bytes) : undefined);
      };
      if (body instanceof Readable) return { ...reply, headers, body: collect(body, max_bytes, store) };
      store(typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)));
      return { ...reply, headers };
    }

    /** Does what is owed, once. A store that fails costs nobody an answer. */
    function settle(owed: Duty, value: Buffer | undefined): void {
      if (owed.isSettled) return;
      owed.isSettled = true;
      const work = value === undefined ? owed.lead.giveUp() : owed.lead.store(value, owed.seconds);
      work.catch((error: unknown) => {
        if (error instanceof SharedUnavailable) bypass(error);
        else log.error('an answer could not be cached', error);
      });
    }

    /** Goes on without the store, and does not ask it for a while: every request would wait for it in vain. */
    function bypass(error: unknown): undefined {
      if (!(error instanceof SharedUnavailable)) throw error;
      restsUntil = performance.now() + restAfterFailure;
      if (performance.now() >= quietUntil) log.warn(`answers are not cached: ${error.message}`);
      quietUntil = performance.now() + warnInterval;
    }
  },
});

function readSeconds(text: string, maximum: number): number {
  const seconds = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= maximum) return seconds;
  throw new GatewayError(
    'invalid_request',
    `the header X-Service-Cache has to be a whole number of seconds from 1 to ${maximum}`,
    {
      param: 'X-Service-Cache',
    },
  );
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

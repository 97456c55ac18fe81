import { bounds } from '#core/bounds.ts';
import { GatewayError } from '#core/errors/table.ts';
import { cacheStatus, principal } from '#core/facts.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { ReplyCache } from './reply-cache.ts';

const header = 'x-service-cache';
/** Seconds: identical requests wait two minutes for the first, and then for the store. */
const longestWait = 150;

/**
 * Keeps answers for clients that ask for it with `X-Service-Cache: SECONDS`, for each account by itself. Identical
 * requests at the same time cause one call of an upstream: the others wait for its answer, and each asks by itself as soon
 * as it has failed or turned out to be too large.
 *
 * @throws GatewayError `invalid_request` when the header is no whole number of seconds within bounds, also where nothing is
 * kept: lists, token counts, the key
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
  create({ max_age: maxAge, max_bytes: maxBytes }, { shared, log }) {
    const cache = new ReplyCache({ shared, log, maxBytes });
    return {
      timeout: longestWait,
      enter(exchange) {
        const asked = exchange.headers[header];
        if (asked === undefined || exchange.endpoint.isPublic) return;
        const seconds = readSeconds(String(asked), maxAge);
        if (exchange.format === undefined || !exchange.endpoint.isMetered) return;
        return cache.look(exchange, seconds);
      },
      leave: (exchange, reply) => cache.keep(exchange, reply),
      done: (exchange) => cache.release(exchange),
    };
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

import { cachedCall, cacheStatus, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { integer, object } from '#core/platform/schema.ts';
import { ReplyCache } from './reply-cache.ts';

const headerName = 'x-service-cache';
const maxWaitSeconds = 150; // up to two minutes for the leader, then for the store

/**
 * Caches replies, separately for each account, for clients that send `X-Service-Cache: SECONDS`. Identical requests in flight share one
 * upstream call. The others wait for its reply, and each makes its own call if that reply fails or is too large to cache.
 *
 * @throws GatewayError `invalid_request` if the header is not an integer in range, even on endpoints without caching
 */
export const cacheStage = defineStage({
  name: 'cache',
  description: 'Caches responses to requests with the header X-Service-Cache: SECONDS.',
  reads: [principal],
  writes: [cacheStatus, cachedCall],
  options: object({
    max_age: integer(
      { minimum: 1, maximum: 31_536_000, default: 86_400 },
      'Maximum seconds that a client can request.',
    ),
    max_bytes: integer(
      { minimum: 1, maximum: bounds.cachedReply, default: 1_048_576 },
      'Maximum bytes of a cached response.',
    ),
  }),
  documentation: ({ max_age: seconds }) => ({
    headers: [
      { name: 'X-Service-Cache', in: 'request', text: 'cache.docs.ask', values: { seconds }, example: '3600' },
      { name: headerName, in: 'response', text: 'cache.docs.status', example: 'hit' },
      { name: `${headerName}-expires-in`, in: 'response', text: 'cache.docs.expires', example: '3588' },
    ],
  }),
  create({ max_age: maxAge, max_bytes: maxBytes }, { shared, catalog, log }) {
    const cache = new ReplyCache({ shared, catalog, log, maxBytes });
    return {
      timeout: maxWaitSeconds,
      keepsContent: true,
      enter(exchange) {
        const requestedSeconds = exchange.headers[headerName];
        if (requestedSeconds === undefined || exchange.endpoint.isPublic) return;
        const seconds = parseSeconds(String(requestedSeconds), maxAge);
        if (exchange.format === undefined || !exchange.endpoint.isMetered || isUpload(exchange)) return;
        return cache.find(exchange, seconds);
      },
      // The client of a detached exchange has already received a different reply.
      leave: (exchange, reply) => (exchange.taker === undefined ? cache.store(exchange, reply) : reply),
      done: (exchange) => cache.release(exchange),
    };
  },
});

/** Uploads are rarely identical, so they are not cached. */
function isUpload({ headers }: Exchange): boolean {
  return headers['content-type']?.toLowerCase().startsWith('multipart/') === true;
}

function parseSeconds(text: string, maximum: number): number {
  const seconds = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= maximum) return seconds;
  throw new GatewayError(
    'invalid_request',
    `The header X-Service-Cache must be an integer from 1 to ${maximum}, the number of seconds to cache the response.`,
    { param: 'X-Service-Cache' },
  );
}

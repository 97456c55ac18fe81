import { GatewayError } from '#core/platform/errors/table.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { unavailable } from './continuation.ts';
import { pageOf } from './input-items.ts';
import { findResponse, responseNotFound } from './find-response.ts';
import { endingOf } from './response-events.ts';
import { ResponseRows, type StoredResponse } from './rows.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { runsOf } from './runs.ts';
import { streamOf } from './stream-tail.ts';
import type { ResponsesReply } from '../../wire/responses.ts';

/**
 * `GET /v1/responses/{id}`, whole or as a stream. Background responses can be streamed while they run, others once they have ended.
 *
 * @throws GatewayError `response_not_found`, `invalid_request`, `unavailable`
 */
export async function getResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const after = readStartingAfter(exchange.query.get('starting_after'));
  const { response } = await load(host, exchange);
  return (await wantsStream(exchange)) ? streamOf(host, keyOf(exchange), after) : json(response);
}

const maxOptions = 1_024; // bytes of `{"stream":true}`, with room for spaces and other members

/** The option is in the query or, despite the method, in a body: openai-go 3 sends `{"stream":true}`. */
async function wantsStream({ query, headers, body }: Exchange): Promise<boolean> {
  if (query.get('stream') === 'true') return true;
  const length = Number(headers['content-length'] ?? 0);
  if (!(length > 0 && length <= maxOptions)) return false;
  return (await body.json())['stream'] === true;
}

function readStartingAfter(text: string | null): number {
  if (text === null || text === '') return -1;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const message = '`starting_after` must be the number of an event.';
  throw new GatewayError('invalid_request', message, { param: 'starting_after' });
}

/**
 * `POST /v1/responses/{id}/cancel`. A background response that has ended is left unchanged.
 *
 * @throws GatewayError `response_not_found`, `invalid_request`, `unavailable`
 */
export async function cancelResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const key = keyOf(exchange);
  const { response, isRunning } = await load(host, exchange);
  const { background }: ResponsesReply = response;
  if (background !== true) {
    const message = 'Only responses created with `background: true` can be cancelled.';
    throw new GatewayError('invalid_request', message);
  }
  if (!isRunning) return json(response);
  const cancelled = { ...response, status: 'cancelled' };
  await new RunRows(host.database).end(key, cancelled, host.now(), endingOf(cancelled)).catch(unavailable);
  runsOf(host).stop(key);
  runsOf(host).wake(key);
  return json((await load(host, exchange)).response);
}

/**
 * `GET /v1/responses/{id}/input_items`.
 *
 * @throws GatewayError `response_not_found`, `invalid_request`, `unavailable`
 */
export async function listInputItems(host: Host, exchange: Exchange): Promise<Reply> {
  return json(pageOf(await load(host, exchange), exchange.query));
}

/**
 * `DELETE /v1/responses/{id}`.
 *
 * @throws GatewayError `response_not_found`, `unavailable`
 */
export async function deleteResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const { accountId, id } = keyOf(exchange);
  const isDeleted = await new ResponseRows(host.database).delete(accountId, id, host.now()).catch(unavailable);
  if (!isDeleted) throw responseNotFound(id);
  runsOf(host).stop({ accountId, id });
  runsOf(host).wake({ accountId, id });
  return json({ id, object: 'response', deleted: true });
}

/**
 * Refuses OpenAI's other paths below `/v1/responses`, which would be mistaken for ids.
 *
 * @throws GatewayError `not_found` always
 */
export function refuseUnsupported({ endpoint }: Exchange): never {
  const { method, path } = endpoint;
  throw new GatewayError('not_found', `${method} ${path} is not supported. Send the whole conversation as \`input\`.`);
}

function load(host: Host, exchange: Exchange): Promise<StoredResponse> {
  return findResponse(host, keyOf(exchange));
}

/** The caller's account and the requested id. Without `auth`, nothing is stored or found. */
function keyOf(exchange: Exchange): RunKey {
  const id = exchange.params['id'] ?? '';
  const accountId = exchange.find(principal)?.accountId;
  if (accountId === undefined) throw responseNotFound(id);
  return { accountId, id };
}

export function json(value: object): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

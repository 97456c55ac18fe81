import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { ResponsesReply } from '../../wire/responses.ts';
import { throwUnavailable } from './continuation.ts';
import { findResponse, createResponseNotFoundError } from './find-response.ts';
import { selectPage } from './input-items.ts';
import { writeEndEvent } from './response-events.ts';
import { ResponseRows, type StoredResponse } from './rows.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { getBackgroundRuns } from './runs.ts';
import { streamResponse } from './stream-tail.ts';

/**
 * Serves `GET /v1/responses/{id}`, as a stream if the client asks for it. A background response can be streamed as it runs, any other
 * response once it has ended.
 *
 * @throws GatewayError `response_not_found`, `invalid_request`, `unavailable`
 */
export async function getResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const afterSequence = readStartingAfter(exchange.query.get('starting_after'));
  const { response } = await loadResponse(host, exchange);
  return (await wantsStream(exchange))
    ? streamResponse(host, readRunKey(exchange), afterSequence)
    : createJsonReply(response);
}

const maxOptionsBytes = 1_024; // room for `{"stream":true}` with spaces and other members

async function wantsStream({ query, headers, body }: Exchange): Promise<boolean> {
  if (query.get('stream') === 'true') return true;
  // openai-go 3 sends the body `{"stream":true}` even with GET.
  const length = Number(headers['content-length'] ?? 0);
  if (!(length > 0 && length <= maxOptionsBytes)) return false;
  return (await body.json())['stream'] === true;
}

function readStartingAfter(text: string | null): number {
  if (text === null || text === '') return -1;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const message = '`starting_after` must be the number of an event.';
  throw new GatewayError('invalid_request', message, { param: 'starting_after' });
}

/**
 * Serves `POST /v1/responses/{id}/cancel`. A background response that has ended is unchanged.
 *
 * @throws GatewayError `response_not_found`, `invalid_request`, `unavailable`
 */
export async function cancelResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const key = readRunKey(exchange);
  const { response, isRunning } = await loadResponse(host, exchange);
  const { background }: ResponsesReply = response;
  if (background !== true) {
    const message = 'Only responses created with `background: true` can be cancelled.';
    throw new GatewayError('invalid_request', message);
  }
  if (!isRunning) return createJsonReply(response);
  const cancelled = { ...response, status: 'cancelled' };
  await new RunRows(host.database).end(key, cancelled, host.now(), writeEndEvent(cancelled)).catch(throwUnavailable);
  getBackgroundRuns(host).stop(key);
  getBackgroundRuns(host).wake(key);
  return createJsonReply((await loadResponse(host, exchange)).response);
}

/** @throws GatewayError `response_not_found`, `invalid_request`, `unavailable` */
export async function listInputItems(host: Host, exchange: Exchange): Promise<Reply> {
  return createJsonReply(selectPage(await loadResponse(host, exchange), exchange.query));
}

/** @throws GatewayError `response_not_found`, `unavailable` */
export async function deleteResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const { accountId, id } = readRunKey(exchange);
  const isDeleted = await new ResponseRows(host.database).delete(accountId, id, host.now()).catch(throwUnavailable);
  if (!isDeleted) throw createResponseNotFoundError(id);
  getBackgroundRuns(host).stop({ accountId, id });
  getBackgroundRuns(host).wake({ accountId, id });
  return createJsonReply({ id, object: 'response', deleted: true });
}

/** Refuses OpenAI's other paths below `/v1/responses`, which would otherwise be mistaken for ids. */
export function refuseUnsupported({ endpoint }: Exchange): never {
  const { method, path } = endpoint;
  throw new GatewayError('not_found', `${method} ${path} is not supported. Send the whole conversation as \`input\`.`);
}

function loadResponse(host: Host, exchange: Exchange): Promise<StoredResponse> {
  return findResponse(host, readRunKey(exchange));
}

function readRunKey(exchange: Exchange): RunKey {
  const id = exchange.params['id'] ?? '';
  const accountId = exchange.find(principal)?.accountId;
  if (accountId === undefined) throw createResponseNotFoundError(id);
  return { accountId, id };
}

export function createJsonReply(value: object): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

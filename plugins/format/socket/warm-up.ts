import { nameInReply } from '#core/config/catalog/model-name.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { writeResponse } from '../formats/responses/reply/reply-object.ts';
import { findModel, requireModel, stripIdPrefix } from '../request/client-request.ts';
import { continuedId } from '../state/responses-store/store.ts';
import type { ResponsesRequest } from '../wire/responses.ts';

/**
 * Creates the endpoint for `generate: false`. It responds without output, so that later requests can continue the response. A request needs
 * a key and a plan, counts toward the rate limit `other`, and calls no upstream. Its format and path are the same as for full requests.
 */
export function createWarmUpEndpoint({ format, path }: Endpoint, host: () => Host): Endpoint {
  return {
    name: 'responses_warm_up',
    method: 'POST',
    path,
    format,
    isMetered: false,
    answer: (exchange) => respondWithEmptyResponse(host(), exchange),
  };
}

async function respondWithEmptyResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const body: ResponsesRequest = await exchange.body.json();
  const name = requireModel(body.model);
  const context = {
    id: stripIdPrefix(exchange.id),
    model: nameInReply(findModel(host, name), name),
    created: Math.floor(exchange.receivedAt / 1000),
    request: { ...body, store: false, previous_response_id: exchange.find(continuedId) ?? null },
    outline: body,
  };
  const response = writeResponse(context, { status: 'completed', output: [], usage: {} });
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(response),
  };
}

import { GatewayError } from '#core/platform/errors/table.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { unavailable } from './continuation.ts';
import { pageOf } from './input-items.ts';
import { ResponseRows, type StoredResponse } from './rows.ts';

/** `GET /v1/responses/{id}`. @throws GatewayError `response_not_found`, `not_supported`, `unavailable` */
export async function getResponse(host: Host, exchange: Exchange): Promise<Reply> {
  if (exchange.query.get('stream') === 'true') {
    const message = 'A stored response cannot be streamed again. Leave out `stream`.';
    throw new GatewayError('not_supported', message, { param: 'stream' });
  }
  return json((await load(host, exchange)).response);
}

/** `GET /v1/responses/{id}/input_items`. @throws GatewayError `response_not_found`, `invalid_request`, `unavailable` */
export async function listInputItems(host: Host, exchange: Exchange): Promise<Reply> {
  return json(pageOf(await load(host, exchange), exchange.query));
}

/** `DELETE /v1/responses/{id}`. @throws GatewayError `response_not_found`, `unavailable` */
export async function deleteResponse(host: Host, exchange: Exchange): Promise<Reply> {
  const { accountId, id } = named(exchange);
  const isDeleted = await new ResponseRows(host.database).delete(accountId, id, host.now()).catch(unavailable);
  if (!isDeleted) throw notFound(id);
  return json({ id, object: 'response', deleted: true });
}

/**
 * Refuses other paths of OpenAI below `/v1/responses`, which would be taken for ids.
 *
 * @throws GatewayError `not_found` always
 */
export function refuseUnsupported({ endpoint }: Exchange): never {
  const { method, path } = endpoint;
  throw new GatewayError('not_found', `${method} ${path} is not supported. Send the whole conversation as \`input\`.`);
}

async function load(host: Host, exchange: Exchange): Promise<StoredResponse> {
  const { accountId, id } = named(exchange);
  const found = await new ResponseRows(host.database).find(accountId, id, host.now()).catch(unavailable);
  if (found === undefined) throw notFound(id);
  return found;
}

/** The requested id and the caller's account. Without `auth` nothing is stored, so nothing is found. */
function named(exchange: Exchange): { readonly accountId: string; readonly id: string } {
  const id = exchange.params['id'] ?? '';
  const accountId = exchange.find(principal)?.accountId;
  if (accountId === undefined) throw notFound(id);
  return { accountId, id };
}

function notFound(id: string): GatewayError {
  return new GatewayError('response_not_found', `Response with id '${id.slice(0, 200)}' not found.`);
}

function json(value: object): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

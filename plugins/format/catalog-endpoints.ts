import type { ListedModel } from '#core/catalog/catalog.ts';
import type { Host } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { findModelNamed } from './request/find-model.ts';
import { limitsOf } from './limits.ts';

const headers = { 'content-type': 'application/json; charset=utf-8' };

/** `GET /v1/models`: one body that the OpenAI and the Anthropic SDKs both read; always a single page. */
export function listModels(host: Host): Reply {
  const data = host.catalog.listed.map((listed) => describeModel(listed, host));
  const body = {
    object: 'list',
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
  return { status: 200, headers, body: JSON.stringify(body) };
}

/** `GET /v1/models/{id}`. @throws GatewayError `model_not_found` */
export function getModel(host: Host, exchange: Exchange): Reply {
  const model = findModelNamed(host, exchange.params['id'] ?? '');
  return { status: 200, headers, body: JSON.stringify(describeModel(model, host)) };
}

/** Nobody knows when a model of the catalog was made; clients only want a date. */
const created = new Date('2026-01-01T00:00:00Z');

function describeModel({ name, model }: ListedModel, host: Host) {
  const { input, output } = limitsOf(model);
  return {
    id: name,
    object: 'model',
    created: created.getTime() / 1000,
    owned_by: host.service.name.toLowerCase(),
    type: 'model',
    display_name: model.displayName,
    created_at: created.toISOString(),
    max_input_tokens: input ?? null,
    max_tokens: output ?? null,
  };
}

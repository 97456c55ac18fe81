import type { ListedModel } from '#core/catalog/catalog.ts';
import type { Host } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { getGeminiModel, listGeminiModels } from './gemini/models.ts';
import { limitsOf } from './limits.ts';
import { describeOffered, listOffered } from './offered-models.ts';

/**
 * `GET /v1/models`: one body that the OpenAI and the Anthropic SDKs both read; always a single page. Google's clients ask
 * here as well, since version 3 of `@google/genai` by default, and get their own format.
 */
export function listModels(host: Host, exchange: Exchange): Reply {
  if (exchange.dialect === 'google') return listGeminiModels(host, exchange);
  return listOffered(host, exchange, (models) => {
    const data = models.map((model) => describeModel(model, host));
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { object: 'list', data, has_more: false, first_id, last_id };
  });
}

/** `GET /v1/models/{id}`. @throws GatewayError `plan_inactive`, `model_not_found` */
export function getModel(host: Host, exchange: Exchange): Reply {
  if (exchange.dialect === 'google') return getGeminiModel(host, exchange);
  return describeOffered(host, exchange, (model) => describeModel(model, host));
}

/** Clients require a creation date, which the catalog does not have. */
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

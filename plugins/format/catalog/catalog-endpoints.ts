import type { ModelState } from '#core/business/model-health/model-health.ts';
import type { ListedModel } from '#core/config/catalog/catalog.ts';
import type { ModelKind } from '#core/config/catalog/kinds.ts';
import { nameInReply, createPickerName } from '#core/config/catalog/model-name.ts';
import { entitlement } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { findModel } from '../request/client-request.ts';
import { isClaudeCode } from '../request/hosted-tools.ts';
import { readLimits } from './model-capabilities.ts';
import { selectPage, readPageSelection } from './model-page.ts';

type ModelStates = ReadonlyMap<string, ModelState>;

/**
 * `GET /v1/models`: lists the models in a body that both OpenAI's and Anthropic's SDKs can read, on one page unless the client requests a
 * smaller one. Google's clients also use this endpoint (by default since version 3 of `@google/genai`) and get Google's format.
 *
 * @param states model states as on the status page
 * @throws GatewayError `invalid_request`
 */
export function listModels(host: Host, exchange: Exchange, states: ModelStates): Reply {
  if (exchange.dialect === 'google') return listGeminiModels(host, exchange);
  const selection = readPageSelection(exchange.query, { size: 'limit', after: 'after_id', before: 'before_id' });
  return respondWithList(host, exchange, (offered) => {
    const models = isClaudeCode(exchange) ? selectForPicker(offered, host) : offered;
    const { page, hasMore } = selectPage(models, selection);
    const data = page.map((model) => describeModel(model, host, states));
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { object: 'list', data, has_more: hasMore, first_id, last_id };
  });
}

function selectForPicker(models: readonly ListedModel[], { service }: Host): ListedModel[] {
  // Claude Code's model picker lists only chat models.
  const chatModels = models.filter(({ model }) => model.kind === 'chat');
  const byPickerName = new Map(
    chatModels.map(({ name, model }) => [createPickerName(service.prefix, name), model] as const),
  );
  return [...byPickerName].map(([name, model]) => ({ name, model }));
}

/** @throws GatewayError `plan_inactive`, `model_not_found` */
export function getModel(host: Host, exchange: Exchange, states: ModelStates): Reply {
  if (exchange.dialect === 'google') return getGeminiModel(host, exchange);
  return respondWithModel(host, exchange, (model) => describeModel(model, host, states));
}

const creationDate = new Date('2026-01-01T00:00:00Z'); // required by clients; the catalog has none

function describeModel({ name, model }: ListedModel, host: Host, states: ModelStates) {
  const { input, output } = readLimits(model);
  return {
    id: name,
    object: 'model',
    created: creationDate.getTime() / 1000,
    owned_by: host.service.name.toLowerCase(),
    type: 'model',
    display_name: model.displayName,
    created_at: creationDate.toISOString(),
    max_input_tokens: input ?? null,
    max_tokens: output ?? null,
    // Strict decoders require these members. Every model in the catalog is in use.
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    retires_at: null,
    kind: model.kind,
    status: states.get(model.publicName) ?? 'no_data',
  };
}

const generationMethods: Partial<Readonly<Record<ModelKind, readonly string[]>>> = {
  chat: ['generateContent', 'countTokens'],
  embedding: ['embedContent', 'batchEmbedContents'],
};

/**
 * `GET /v1beta/models`: lists the models in Google's format, on one page unless the client requests a smaller one. Source: Gemini API
 * reference, "Models".
 *
 * @throws GatewayError `invalid_request`
 */
export function listGeminiModels(host: Host, exchange: Exchange): Reply {
  const selection = readPageSelection(exchange.query, { size: 'pageSize', after: 'pageToken' });
  return respondWithList(host, exchange, (models) => {
    const { page, hasMore } = selectPage(models, selection);
    const nextPageToken = hasMore ? page.at(-1)?.name : undefined;
    return { models: page.map(describeGeminiModel), nextPageToken };
  });
}

/** @throws GatewayError `plan_inactive`, `model_not_found` */
export function getGeminiModel(host: Host, exchange: Exchange): Reply {
  return respondWithModel(host, exchange, describeGeminiModel);
}

function describeGeminiModel({ name, model }: ListedModel) {
  const { displayName, kind } = model;
  const { input, output } = readLimits(model);
  return {
    name: `models/${name}`,
    baseModelId: name,
    version: '1',
    displayName,
    description: '',
    inputTokenLimit: input,
    outputTokenLimit: output,
    supportedGenerationMethods: generationMethods[kind] ?? [],
  };
}

/** Not cached, because the list depends on the key and the time. */
const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/** Lists all models if a period is active or no stage requires one. Otherwise the list is empty, and the notice header gives the reason. */
function respondWithList(
  { catalog, service }: Host,
  exchange: Exchange,
  describe: (models: readonly ListedModel[]) => object,
): Reply {
  const reason = exchange.find(entitlement)?.inactiveReason;
  const notice = reason === undefined ? {} : { [`x-${service.slug}-notice`]: encodeHeader(reason) };
  const body = JSON.stringify(describe(reason === undefined ? catalog.listed : []));
  return { status: 200, headers: { ...headers, ...notice }, body };
}

function respondWithModel(host: Host, exchange: Exchange, describe: (model: ListedModel) => object): Reply {
  const reason = exchange.find(entitlement)?.inactiveReason;
  if (reason !== undefined) throw new GatewayError('plan_inactive', reason);
  const requested = exchange.params['id'] ?? '';
  const model = findModel(host, requested);
  return { status: 200, headers, body: JSON.stringify(describe({ name: nameInReply(model, requested), model })) };
}

function encodeHeader(text: string): string {
  // Headers must be ASCII, but the base URL in the text may contain other characters.
  return text.toWellFormed().replace(/[^ -~]+/g, encodeURIComponent);
}

import type { ListedModel } from '#core/catalog/catalog.ts';
import type { Host } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { findModelNamed } from '../request/find-model.ts';
import { textFormats } from '../formats.ts';
import { limitsOf } from '../limits.ts';

const headers = { 'content-type': 'application/json; charset=utf-8' };
const textMethods = ['generateContent', 'countTokens'];

/** `GET /v1beta/models`: the catalog as Google's clients read it, in one page. Source: Gemini API reference, "Models". */
export function listGeminiModels(host: Host): Reply {
  const models = host.catalog.listed.map(describeModel);
  return { status: 200, headers, body: JSON.stringify({ models }) };
}

/** `GET /v1beta/models/{id}`. @throws GatewayError `model_not_found` */
export function getGeminiModel(host: Host, exchange: Exchange): Reply {
  const model = findModelNamed(host, exchange.params['id'] ?? '');
  return { status: 200, headers, body: JSON.stringify(describeModel(model)) };
}

function describeModel({ name, model }: ListedModel) {
  const { displayName, routes } = model;
  const { input, output } = limitsOf(model);
  const isForText = routes.some(({ upstream }) => textFormats.some((format) => upstream.formats.includes(format.name)));
  return {
    name: `models/${name}`,
    baseModelId: name,
    version: '1',
    displayName,
    description: '',
    inputTokenLimit: input,
    outputTokenLimit: output,
    supportedGenerationMethods: isForText ? textMethods : [],
  };
}

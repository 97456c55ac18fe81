import type { ListedModel } from '#core/catalog/catalog.ts';
import type { Host } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { textFormats } from '../formats.ts';
import { limitsOf } from '../limits.ts';
import { describeOffered, listOffered } from '../offered-models.ts';

const textMethods = ['generateContent', 'countTokens'];

/** `GET /v1beta/models`: the catalog as Google's clients read it, in one page. Source: Gemini API reference, "Models". */
export function listGeminiModels(host: Host, exchange: Exchange): Reply {
  return listOffered(host, exchange, (models) => ({ models: models.map(describeModel) }));
}

/** `GET /v1beta/models/{id}`. @throws GatewayError `plan_inactive`, `model_not_found` */
export function getGeminiModel(host: Host, exchange: Exchange): Reply {
  return describeOffered(host, exchange, describeModel);
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

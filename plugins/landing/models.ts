import { bestSupport, type ModelFeature, readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type ModelHealth, readModelHealth } from '#core/business/model-health/model-health.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

/** Vendor whose clients use a format. */
const vendors: Readonly<Record<string, string>> = {
  chat: 'OpenAI',
  responses: 'OpenAI',
  messages: 'Anthropic',
  gemini: 'Gemini',
  'gemini-embeddings': 'Gemini',
};

/** Capabilities that guide the choice of a model, with the keys of their texts. */
const abilities: readonly (readonly [feature: ModelFeature, text: string])[] = [
  ['tools', 'tools'],
  ['images', 'images'],
  ['reasoning', 'reasoning'],
];

/** Number of models on the front page; the status page lists all. */
const listedModels = 100;

/** Describes the catalog, with each model's state derived from real traffic. */
export async function describeModels(gateway: Registry, request: PageRequest) {
  const { host } = request;
  const health = await readModelHealth(gateway, host);
  const byName = new Map(health.map((model) => [model.id, model]));
  return host.catalog.models
    .slice(0, listedModels)
    .map((model) => describeModel(gateway, model, byName.get(model.publicName), request));
}

/** Returns the text of the link to unlisted models; '' if all are listed. */
export function moreModels({ host, t, format }: PageRequest): string {
  const { length } = host.catalog.models;
  return length > listedModels ? t('landing.models_more', { all: format.number(length) }) : '';
}

function describeModel(gateway: Registry, model: Model, health: ModelHealth | undefined, request: PageRequest) {
  const { t, format } = request;
  const known = readAbilities(gateway, model);
  const { conversations, others } = known;
  const can = abilities
    .filter(([feature]) => bestSupport(known, feature) !== 'no')
    .map(([, text]) => t(`landing.can.${text}`));
  if (model.kind !== 'chat') can.push(t(`part.kind.${model.kind}`));
  const families = [...conversations.map((conversation) => conversation.format), ...others].map(
    (name) => vendors[name] ?? 'OpenAI',
  );
  const firstToken = health?.firstTokenMs;
  return {
    id: model.publicName,
    speaks: [...new Set(families)].join(' · '),
    can: capitalize(can.join(', ')),
    routes: format.number(model.routes.length),
    firstToken: firstToken === undefined ? '' : format.duration(firstToken).text,
    state: describeModelState(health, request, request.host.now()),
  };
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

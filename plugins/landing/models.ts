import { type ModelHealth, readModelHealth } from '#core/business/model-health/model-health.ts';
import { findBestSupport, type ModelFeature, readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import type { Registry } from '#core/extension/registry.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

const shownFeatures: readonly ModelFeature[] = ['tools', 'images', 'reasoning'];

const maxModels = 100; // the status page lists all

export async function describeModels(gateway: Registry, request: PageRequest) {
  const { host } = request;
  const health = await readModelHealth(gateway, host);
  const healthByModel = new Map(health.map((model) => [model.id, model]));
  return host.catalog.models
    .slice(0, maxModels)
    .map((model) => describeModel(gateway, model, healthByModel.get(model.publicName), request));
}

export function describeMoreModelsLink({ host, t, format }: PageRequest): string {
  const { length } = host.catalog.models;
  return length > maxModels ? t('landing.models_more', { all: format.number(length) }) : '';
}

function describeModel(gateway: Registry, model: Model, health: ModelHealth | undefined, request: PageRequest) {
  const { t, format } = request;
  const modelAbilities = readAbilities(gateway, model);
  const capabilities = shownFeatures
    .filter((feature) => findBestSupport(modelAbilities, feature) !== 'no')
    .map((feature) => t(`landing.can.${feature}`));
  if (model.kind !== 'chat') capabilities.push(t(`part.kind.${model.kind}`));
  const firstToken = health?.firstTokenMs;
  return {
    id: model.publicName,
    speaks: modelAbilities.vendors.join(' · '),
    can: capitalize(capabilities.join(', ')),
    routes: format.number(model.routes.length),
    firstToken: firstToken === undefined ? '' : format.duration(firstToken).text,
    state: describeModelState(health, request, request.host.now()),
  };
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

import { findBestSupport, type ModelAbilities, readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { type ModelKind, modelKinds } from '#core/config/catalog/kinds.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type AbilitySource = Pick<Registry, 'abilityReader'>;

/** Lets the page's script offer only settings that the model supports. */
interface ModelFacts {
  readonly images: boolean;
  readonly files: boolean;
  readonly audio: boolean;
  readonly tools: boolean;
  readonly sampling: boolean;
  readonly efforts: readonly string[]; // empty if they cannot be set
  readonly json: boolean; // answers can be forced to follow a JSON Schema
  readonly maxOutput: number | undefined; // tokens; undefined if not configured
}

/** A few text models have only the endpoint `/v1/completions`. */
export function isOffered(gateway: AbilitySource, model: Model): boolean {
  return model.kind !== 'chat' || readAbilities(gateway, model).conversations.length > 0;
}

export function describeModels(gateway: AbilitySource, models: readonly Model[], t: PageRequest['t']) {
  // Each model has an index into the facts, because thousands of models share a few combinations.
  const factsIndexes = new Map<string, number>();
  const addFacts = (model: Model) => {
    const text = JSON.stringify(describeFacts(readAbilities(gateway, model)));
    const index = factsIndexes.get(text) ?? factsIndexes.size;
    factsIndexes.set(text, index);
    return index;
  };
  const groups = modelKinds.flatMap((kind) => {
    const kindModels = models.filter((model) => model.kind === kind);
    const options = kindModels.map((model) => ({ name: model.publicName, facts: addFacts(model) }));
    return kindModels.length === 0 ? [] : [{ kind, label: t(`models.kind.${kind}`), models: options }];
  });
  return { groups, facts: `[${[...factsIndexes.keys()].join()}]` };
}

function describeFacts(abilities: ModelAbilities): ModelFacts {
  const supports = (feature: 'images' | 'tools') => findBestSupport(abilities, feature) !== 'no';
  return {
    images: supports('images'),
    files: abilities.inputs.includes('files'),
    audio: abilities.inputs.includes('audio'),
    tools: supports('tools'),
    sampling: abilities.settings.sampling,
    efforts: abilities.settings.efforts,
    json: findBestSupport(abilities, 'structured output') !== 'no',
    maxOutput: abilities.maxOutputTokens,
  };
}

export type SingleKind = Exclude<ModelKind, 'chat'>;

import { bestSupport, type ModelAbilities, readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { type ModelKind, modelKinds } from '#core/config/catalog/kinds.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type Abilities = Pick<Registry, 'abilityReader'>;

/** Facts about a model for the page's script, which offers only settings that the model supports. */
interface ModelFacts {
  readonly images: boolean;
  readonly files: boolean;
  readonly audio: boolean;
  readonly tools: boolean;
  readonly sampling: boolean;
  /** Reasoning efforts; empty if they cannot be set. */
  readonly efforts: readonly string[];
  /** True if answers can be forced to follow a JSON Schema. */
  readonly json: boolean;
  readonly maxOutput: number | undefined; // tokens; undefined if not configured
}

/** Returns whether the page can call the model. Few text models have no endpoint besides `/v1/completions`. */
export function isOffered(gateway: Abilities, model: Model): boolean {
  return model.kind !== 'chat' || readAbilities(gateway, model).conversations.length > 0;
}

/** Describes the models for the select by kind, and their distinct facts: thousands of models share a few combinations. */
export function describeModels(gateway: Abilities, models: readonly Model[], t: PageRequest['t']) {
  const facts = new Map<string, number>();
  const numberOf = (model: Model) => {
    const text = JSON.stringify(factsOf(readAbilities(gateway, model)));
    const number = facts.get(text) ?? facts.size;
    facts.set(text, number);
    return number;
  };
  const groups = modelKinds.flatMap((kind) => {
    const ofKind = models.filter((model) => model.kind === kind);
    const listed = ofKind.map((model) => ({ name: model.publicName, facts: numberOf(model) }));
    return ofKind.length === 0 ? [] : [{ kind, label: t(`models.kind.${kind}`), models: listed }];
  });
  return { groups, facts: `[${[...facts.keys()].join()}]` };
}

function factsOf(abilities: ModelAbilities): ModelFacts {
  const has = (feature: 'images' | 'tools') => bestSupport(abilities, feature) !== 'no';
  return {
    images: has('images'),
    files: abilities.inputs.includes('files'),
    audio: abilities.inputs.includes('audio'),
    tools: has('tools'),
    sampling: abilities.settings.sampling,
    efforts: abilities.settings.efforts,
    json: bestSupport(abilities, 'structured output') !== 'no',
    maxOutput: abilities.maxOutputTokens,
  };
}

/** Kinds whose page has fields for one request instead of a conversation. */
export type SingleKind = Exclude<ModelKind, 'chat'>;

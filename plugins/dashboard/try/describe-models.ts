import { bestSupport, type ModelAbilities, readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { type ModelKind, modelKinds } from '#core/config/catalog/kinds.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type Abilities = Pick<Registry, 'abilityReader'>;

/** Facts about a model for the page's script, which offers only settings that the model takes. */
interface ModelFacts {
  readonly images: boolean;
  readonly files: boolean;
  readonly audio: boolean;
  readonly tools: boolean;
  readonly sampling: boolean;
  /** Reasoning efforts; empty when they cannot be set. */
  readonly efforts: readonly string[];
  /** True when answers can be made to follow a JSON Schema. */
  readonly json: boolean;
  readonly maxOutput: number | undefined; // tokens; undefined where nothing is configured
}

/** True for a model that the page can call. A model of text has no other endpoint than `/v1/completions` in rare cases. */
export function isOffered(gateway: Abilities, model: Model): boolean {
  return model.kind !== 'chat' || readAbilities(gateway, model).conversations.length > 0;
}

/** The models of the select by kind, and the facts that they share: thousands of models differ in a few ways. */
export function describeModels(gateway: Abilities, models: readonly Model[], t: PageRequest['t']) {
  const facts = new Map<string, number>();
  const numberOf = (model: Model) => {
    const text = JSON.stringify(factsOf(readAbilities(gateway, model)));
    const number = facts.get(text) ?? facts.size;
    facts.set(text, number);
    return number;
  };
  const groups = modelKinds.flatMap((kind) => {
    const some = models.filter((model) => model.kind === kind);
    const listed = some.map((model) => ({ name: model.publicName, facts: numberOf(model) }));
    return some.length === 0 ? [] : [{ kind, label: t(`models.kind.${kind}`), models: listed }];
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

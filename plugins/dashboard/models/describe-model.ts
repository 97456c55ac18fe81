import {
  bestSupport,
  type FeatureSupport,
  type FormatAbilities,
  type ModelAbilities,
  modelFeatures,
} from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import type { ModelHealth } from '#core/business/model-health/model-health.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { connectPath, tryPath } from '../paths.ts';
import type { RouteNames } from '../route-names.ts';
import { addressOf, type ModelsQuery } from './query.ts';

const supportIcons: Readonly<Record<FeatureSupport, string>> = { yes: 'ok', partly: 'info', no: 'close' };

/** The vendor whose SDKs and tools use a format. */
const families: Readonly<Record<string, string>> = {
  chat: 'OpenAI',
  responses: 'OpenAI',
  messages: 'Anthropic',
  gemini: 'Gemini',
  completions: 'OpenAI',
  images: 'OpenAI Images',
  embeddings: 'OpenAI',
  'gemini-embeddings': 'Gemini',
  speech: 'OpenAI Audio',
  transcriptions: 'OpenAI Audio',
  moderations: 'OpenAI',
  rerank: 'Rerank',
};

/** What is read of one model for its row. */
export interface ModelReading {
  readonly model: Model;
  readonly abilities: ModelAbilities;
  readonly health: ModelHealth | undefined;
  /** Exact aliases that lead to it. */
  readonly aliases: readonly string[];
  /** It has no backup, and readers see routes. */
  readonly isAlone: boolean;
}

/** The row of a model, ready to be printed. @param number makes the ids of the row @param now epoch ms */
export function describeRow(
  { model, abilities, health, aliases, isAlone }: ModelReading,
  number: number,
  query: ModelsQuery,
  request: Pick<PageRequest, 't' | 'format'>,
  now: number,
) {
  const { t, format } = request;
  const { publicName, displayName, id } = model;
  const isOpen = query.open === publicName;
  return {
    id: `model-${number}`,
    name: publicName,
    isOpen,
    path: addressOf({ ...query, open: isOpen ? '' : publicName }),
    about: [
      ...(displayName === id ? [] : [displayName]),
      ...describeAliases(aliases, t),
      ...(isAlone ? [t('models.no_backup')] : []),
    ].join(' · '),
    speaks: speaksOf(abilities).join(' · '),
    can: canDo(model, abilities, t),
    context: abilities.maxInputTokens === undefined ? '' : format.compact(abilities.maxInputTokens),
    routes: format.number(model.routes.length),
    firstToken: health?.firstTokenMs === undefined ? '' : format.duration(health.firstTokenMs).text,
    status: describeModelState(health, request, now),
    tryPath: abilities.conversations.length === 0 ? '' : `${tryPath}?model=${encodeURIComponent(publicName)}`,
  };
}

/** What the open row of a model says, ready to be printed. */
export function describeDetail(
  { model, abilities, aliases }: ModelReading,
  routeNames: RouteNames,
  { t, format }: Pick<PageRequest, 't' | 'format'>,
) {
  const { conversations, others, maxInputTokens, maxOutputTokens } = abilities;
  const tokens = (count: number | undefined) =>
    count === undefined ? t('models.unknown') : t('models.tokens', { count: format.number(count) });
  return {
    features: modelFeatures.map((feature) => t(`models.feature.${feature.replace(' ', '_')}`)),
    formats: conversations.map((format_) => describeFormat(format_, t)),
    losses: describeLosses(conversations, t),
    others: others.map((format_) => t(`models.format.${format_}`)),
    aliases: aliases.map((name, index) => ({ id: `alias-${index}`, name })),
    facts: [
      { label: t('models.max_input'), value: tokens(maxInputTokens) },
      { label: t('models.max_output'), value: tokens(maxOutputTokens) },
      ...(routeNames.areShown
        ? [
            {
              label: t('models.routes'),
              value: model.routes.map(({ id }) => routeNames.label(id, model.id)).join(' → '),
            },
          ]
        : []),
    ],
    connectPath: `${connectPath}?model=${encodeURIComponent(model.publicName)}`,
  };
}

function describeFormat({ format, features }: FormatAbilities, t: PageRequest['t']) {
  return {
    name: t(`models.format.${format}`),
    cells: modelFeatures.map((feature) => ({
      icon: supportIcons[features[feature]],
      tone: features[feature] === 'yes' ? 'ok' : 'soft',
      text: t(`models.support.${features[feature]}`),
    })),
  };
}

/** Each loss once, with the formats that have it; no formats when all have it. */
function describeLosses(conversations: readonly FormatAbilities[], t: PageRequest['t']) {
  const losses = [...new Set(conversations.flatMap((one) => one.losses))];
  return losses.map((loss) => {
    const having = conversations.filter((one) => one.losses.includes(loss));
    return {
      text: t(`models.loss.${loss}`),
      formats:
        having.length === conversations.length
          ? ''
          : having.map(({ format }) => t(`models.format.${format}`)).join(', '),
    };
  });
}

function describeAliases(aliases: readonly string[], t: PageRequest['t']): string[] {
  return aliases.length === 0 ? [] : [t('models.also', { names: aliases.join(', ') })];
}

export function speaksOf({ conversations, others }: ModelAbilities): string[] {
  const available = new Set([...conversations.map(({ format }) => format), ...others]);
  const known = Object.keys(families).filter((format) => available.has(format));
  return [...new Set(known.map((format) => families[format] ?? format))];
}

/** `Tools, images, reasoning`; of other kinds what they are for. */
function canDo({ kind }: Model, abilities: ModelAbilities, t: PageRequest['t']): string {
  const features = (['tools', 'images', 'reasoning'] as const).filter(
    (feature) => bestSupport(abilities, feature) !== 'no',
  );
  const words = features.map((feature) => t(`models.can.${feature}`));
  if (kind !== 'chat') words.push(t(`part.kind.${kind}`));
  const text = words.join(', ');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

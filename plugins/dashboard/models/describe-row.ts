import { bestSupport, type ModelAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { dayBars } from '#core/web/pages/geometry.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { tryPath } from '../paths.ts';
import { modelPath } from './query.ts';
import { listedDays, type ModelReading } from './read-models.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

/** Decimal places of uptimes, as on the status page: healthy services differ only in the second. */
export const uptimeDigits = 2;
/** Aliases listed in a row; the model's page lists all. */
const listedAliases = 2;

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

/**
 * Describes the row of a model.
 *
 * @param number used in the ids of the row
 * @param now epoch ms
 */
export function describeRow(reading: ModelReading, number: number, reader: Reader, now: number) {
  const { model, abilities, health } = reading;
  const { t, format } = reader;
  const { publicName } = model;
  const uptime = reading.uptime(listedDays);
  const status = describeModelState(health, reader, now);
  return {
    id: `model-${number}`,
    name: publicName,
    path: modelPath(publicName),
    about: aboutOf(reading, reader),
    status,
    isFine: status.kind === 'ok' || status.kind === 'none',
    context: tokensOf(abilities.maxInputTokens, format),
    output: tokensOf(abilities.maxOutputTokens, format),
    can: canDo(model, abilities, t),
    ...describeSpeed(reading, format),
    uptime: uptime === undefined ? '' : format.percent(uptime, uptimeDigits),
    uptimeKind: uptime === undefined ? 'none' : uptime < 0.99 ? 'warn' : 'ok',
    ...describeHistory(reading, listedDays, reader),
    tryPath: `${tryPath}?model=${encodeURIComponent(publicName)}`,
  };
}

/** Describes the time to first token and tokens per second; '' for a value that was never measured. */
export function describeSpeed(
  { firstTokenMs, tokensPerSecond }: Pick<ModelReading, 'firstTokenMs' | 'tokensPerSecond'>,
  format: PageRequest['format'],
) {
  return {
    firstToken: firstTokenMs === undefined ? '' : format.duration(firstTokenMs).text,
    speed: tokensPerSecond === undefined ? '' : format.number(Math.max(1, Math.round(tokensPerSecond))),
  };
}

/** Bars of the last days; none if the database is unavailable. */
export function describeHistory(reading: ModelReading, days: number, { t }: Reader) {
  const states = reading.history(days).map(({ state }) => state);
  if (states.length === 0) return { bars: undefined, barsLabel: '' };
  const [bad, none] = [
    states.filter((state) => state === 'warn' || state === 'bad').length,
    states.filter((state) => state === 'none').length,
  ];
  return { bars: dayBars(states), barsLabel: t('models.bars', { count: states.length, bad, none }) };
}

/** `128 K`; '' for a limit that is not configured. */
function tokensOf(count: number | undefined, format: PageRequest['format']): string {
  return count === undefined ? '' : format.limit(count);
}

/** `Test 1 · also gpt-x, sonnet`. */
function aboutOf(
  { model: { displayName, id, publicName }, aliases, isAlone, notes }: ModelReading,
  { t, format }: Reader,
) {
  const prefix = publicName.slice(0, -id.length);
  const short = aliases.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));
  const shown = short.slice(0, listedAliases).join(', ');
  const more = aliases.length - listedAliases;
  const names = more > 0 ? t('models.also_more', { names: shown, more: format.number(more) }) : shown;
  return [
    ...(displayName === id ? [] : [displayName]),
    ...(aliases.length > 0 ? [t('models.also', { names })] : []),
    ...(isAlone ? [t('models.no_backup')] : []),
    ...notes,
  ].join(' · ');
}

/** Vendors whose clients can call the model. */
export function speaksOf({ conversations, others }: ModelAbilities): string[] {
  const available = new Set([...conversations.map(({ format }) => format), ...others]);
  const known = Object.keys(families).filter((format) => available.has(format));
  return [...new Set(known.map((format) => families[format] ?? format))];
}

/** Lists capabilities besides text; for models of other kinds, their purpose. */
export function canDo({ kind }: Model, abilities: ModelAbilities, t: PageRequest['t']): string[] {
  if (kind !== 'chat') return [t(`part.kind.${kind}`)];
  const has = (feature: Parameters<typeof bestSupport>[1]) => bestSupport(abilities, feature) !== 'no';
  return [
    ...(has('tools') ? ['tools'] : []),
    ...(has('images') ? ['images'] : []),
    ...abilities.inputs,
    ...(has('reasoning') ? ['reasoning'] : []),
    ...(bestSupport(abilities, 'structured output') === 'yes' ? ['json'] : []),
  ].map((word) => t(`models.can.${word}`));
}

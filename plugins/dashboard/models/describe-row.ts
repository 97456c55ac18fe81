import { findBestSupport, type ModelAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { dayBars } from '#core/web/pages/geometry.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import type { PageRequest, Localizer } from '#core/web/pages/page.ts';
import { tryPath } from '../paths.ts';
import { buildModelPath } from './query.ts';
import { listedDays, type ModelReading } from './read-models.ts';

export const uptimeDigits = 2; // as on the status page; healthy services differ only in the second decimal place
const maxAliases = 2; // the model's page lists all

/** @param number number of the row, used in its ids */
export function describeRow(reading: ModelReading, number: number, reader: Localizer, now: number) {
  const { model, abilities, health } = reading;
  const { t, format } = reader;
  const { publicName } = model;
  const uptime = reading.uptime(listedDays);
  const status = describeModelState(health, reader, now);
  return {
    id: `model-${number}`,
    name: publicName,
    path: buildModelPath(publicName),
    about: describeSubtitle(reading, reader),
    status,
    isFine: status.kind === 'ok' || status.kind === 'none',
    context: formatLimit(abilities.maxInputTokens, format),
    output: formatLimit(abilities.maxOutputTokens, format),
    can: listCapabilities(model, abilities, t),
    ...describeSpeed(reading, format),
    uptime: uptime === undefined ? '' : format.percent(uptime, uptimeDigits),
    uptimeKind: classifyUptime(uptime),
    ...describeHistory(reading, listedDays, reader),
    tryPath: `${tryPath}?model=${encodeURIComponent(publicName)}`,
  };
}

function classifyUptime(uptime: number | undefined): 'none' | 'warn' | 'ok' {
  if (uptime === undefined) return 'none';
  return uptime < 0.99 ? 'warn' : 'ok';
}

export function describeSpeed(
  { firstTokenMs, tokensPerSecond }: Pick<ModelReading, 'firstTokenMs' | 'tokensPerSecond'>,
  format: PageRequest['format'],
) {
  return {
    firstToken: firstTokenMs === undefined ? '' : format.duration(firstTokenMs).text,
    speed: tokensPerSecond === undefined ? '' : format.number(Math.max(1, Math.round(tokensPerSecond))),
  };
}

export function describeHistory(reading: ModelReading, days: number, { t }: Localizer) {
  const states = reading.history(days).map(({ state }) => state);
  if (states.length === 0) return { bars: undefined, barsLabel: '' };
  const [bad, none] = [
    states.filter((state) => state === 'warn' || state === 'bad').length,
    states.filter((state) => state === 'none').length,
  ];
  return { bars: dayBars(states), barsLabel: t('models.bars', { count: states.length, bad, none }) };
}

function formatLimit(count: number | undefined, format: PageRequest['format']): string {
  return count === undefined ? '' : format.limit(count);
}

function describeSubtitle(
  { model: { displayName, id, publicName }, aliases, lacksBackup, notes }: ModelReading,
  { t, format }: Localizer,
) {
  const prefix = publicName.slice(0, -id.length);
  const shortNames = aliases.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));
  const shownNames = shortNames.slice(0, maxAliases).join(', ');
  const hiddenCount = aliases.length - maxAliases;
  const names =
    hiddenCount > 0 ? t('models.also_more', { names: shownNames, more: format.number(hiddenCount) }) : shownNames;
  // Example: `Test 1 · also gpt-x, sonnet`.
  return [
    ...(displayName === id ? [] : [displayName]),
    ...(aliases.length > 0 ? [t('models.also', { names })] : []),
    ...(lacksBackup ? [t('models.no_backup')] : []),
    ...notes,
  ].join(' · ');
}

export function listCapabilities({ kind }: Model, abilities: ModelAbilities, t: PageRequest['t']): string[] {
  if (kind !== 'chat') return [t(`part.kind.${kind}`)];
  const has = (feature: Parameters<typeof findBestSupport>[1]) => findBestSupport(abilities, feature) !== 'no';
  return [
    ...(has('tools') ? ['tools'] : []),
    ...(has('images') ? ['images'] : []),
    ...abilities.inputs,
    ...(has('reasoning') ? ['reasoning'] : []),
    ...(findBestSupport(abilities, 'structured output') === 'yes' ? ['json'] : []),
  ].map((word) => t(`models.can.${word}`));
}

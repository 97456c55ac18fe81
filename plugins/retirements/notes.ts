import type { Host } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import { retirementsPath } from './resource.ts';
import { readRetirements, type Retirement, findServedSuccessor, formatDay } from './retirements.ts';

/** Cache lifetime. Lists are read once a day. */
const maxAgeMs = 60_000;
const timeoutMs = 10_000;

const readings = new WeakMap<Host, FreshValue<readonly Retirement[]>>();

/** Returns retirements that are at most two minutes old. They are cached because pages are updated every few seconds. */
export function getRecentRetirements(host: Host): Promise<readonly Retirement[]> {
  const options = {
    maxAgeMs,
    staleWhileReadMs: maxAgeMs,
    timeoutMs,
    now: () => host.monotonic(),
    read: () => readRetirements(host),
  };
  const reading = readings.get(host) ?? new FreshValue<readonly Retirement[]>(options);
  readings.set(host, reading);
  return reading.get();
}

/** Reads the notes on *Routes* about retiring models. */
export const readRouteNotes: NoteSource = async ({ host, t, format }) =>
  (await getRecentRetirements(host)).map(({ route, state, endsOn }) => ({
    about: route,
    text: t(`retirements.note.${state}`, { day: formatDay(endsOn, format) }),
    kind: state === 'ending' ? 'warn' : 'bad',
    path: retirementsPath,
  }));

/** Reads the notes for customers about models that lose all routes. The day is the last end among their routes. */
export const readModelNotes: NoteSource = async ({ host, t, format }) => {
  const retirements = await getRecentRetirements(host);
  const lostModels = new Set(retirements.flatMap((retirement) => retirement.lost));
  return [...lostModels].flatMap((about) => {
    const modelRetirements = retirements.filter((retirement) => retirement.lost.includes(about));
    const lastDay =
      modelRetirements
        .map(({ endsOn }) => endsOn ?? '')
        .toSorted()
        .at(-1) ?? '';
    if (lastDay === '') return []; // missing from a list, without a date
    const successor = modelRetirements
      .map((retirement) => findServedSuccessor(host, retirement))
      .find((name) => name !== undefined && name !== about);
    const day = formatDay(lastDay, format);
    const text =
      successor === undefined
        ? t('retirements.ends_on', { day })
        : t('retirements.ends_for', { day, other: successor });
    return [{ about, text, kind: 'warn' as const }];
  });
};

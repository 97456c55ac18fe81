import type { Host } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import { retirementsPath } from './resource.ts';
import { readRetirements, type Retirement, servedSuccessor, shownDay } from './retirements.ts';

/** Cache lifetime. Lists are read once a day. */
const maxAge = 60_000;
const deadline = 10_000;

const readings = new WeakMap<Host, FreshValue<readonly Retirement[]>>();

/** Returns retirements that are at most two minutes old. They are cached because pages are updated every few seconds. */
export function recentRetirements(host: Host): Promise<readonly Retirement[]> {
  const options = {
    maxAgeMs: maxAge,
    staleWhileReadMs: maxAge,
    timeoutMs: deadline,
    now: () => host.monotonic(),
    read: () => readRetirements(host),
  };
  const reading = readings.get(host) ?? new FreshValue<readonly Retirement[]>(options);
  readings.set(host, reading);
  return reading.get();
}

/** Reads the notes on *Routes* about retiring models. */
export const retiringRoutes: NoteSource = async ({ host, t, format }) =>
  (await recentRetirements(host)).map(({ route, state, endsOn }) => ({
    about: route,
    text: t(`retirements.note.${state}`, { day: shownDay(endsOn, format) }),
    kind: state === 'ending' ? 'warn' : 'bad',
    path: retirementsPath,
  }));

/** Reads the notes for customers about models that lose all routes. The day is the last end among their routes. */
export const retiringModels: NoteSource = async ({ host, t, format }) => {
  const all = await recentRetirements(host);
  const lost = new Set(all.flatMap((one) => one.lost));
  return [...lost].flatMap((about) => {
    const own = all.filter((one) => one.lost.includes(about));
    const last =
      own
        .map(({ endsOn }) => endsOn ?? '')
        .toSorted()
        .at(-1) ?? '';
    if (last === '') return []; // missing from a list, without a date
    const other = own.map((one) => servedSuccessor(host, one)).find((name) => name !== undefined && name !== about);
    const day = shownDay(last, format);
    const text = other === undefined ? t('retirements.ends_on', { day }) : t('retirements.ends_for', { day, other });
    return [{ about, text, kind: 'warn' as const }];
  });
};

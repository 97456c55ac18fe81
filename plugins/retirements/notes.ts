import { cacheReading } from '#core/gateway/host/host.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import { retirementsPath } from './resource.ts';
import { readRetirements, findServedSuccessor, formatDay } from './retirements.ts';

const maxAgeMs = 60_000; // lists are read only once a day
const timeoutMs = 10_000;

/** The list is at most two minutes old. It is cached, because pages refresh every few seconds. */
export const recentRetirements = cacheReading({ maxAgeMs, staleWhileReadMs: maxAgeMs, timeoutMs }, readRetirements);

export const readRouteNotes: NoteSource = async ({ host, t, format }) =>
  (await recentRetirements(host).get()).map(({ route, state, endsOn }) => ({
    about: route,
    text: t(`retirements.note.${state}`, { day: formatDay(endsOn, format) }),
    kind: state === 'ending' ? 'warn' : 'bad',
    path: retirementsPath,
  }));

/** Each note says on which day the model's last route ends. */
export const readModelNotes: NoteSource = async ({ host, t, format }) => {
  const retirements = await recentRetirements(host).get();
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

import type { Host } from '#core/gateway/host/host.ts';
import { announcementsSection } from '#core/config/sections/announcements-section.ts';
import type { Language } from '../texts/texts.ts';
import type { PageRequest } from './page.ts';

/** What the operator tells customers. Times are epoch ms. */
export interface Announcement {
  readonly kind: 'maintenance' | 'note';
  readonly text: Readonly<Record<Language, string>>;
  /** Public name of the model that it is about; undefined for the whole service. */
  readonly model: string | undefined;
  readonly from: number;
  readonly until: number;
}

/** Ms before maintenance from which on it is announced. */
const notice = 7 * 86_400_000;

/** What is to be shown now, the next first. @param now epoch ms */
export function currentAnnouncements(
  { section, catalog }: Pick<Host, 'section' | 'catalog'>,
  now: number,
): Announcement[] {
  return section(announcementsSection)
    .map(({ kind, text, from, until, model }) => ({
      kind,
      text,
      model: model === undefined ? undefined : (catalog.resolve(model)?.publicName ?? model),
      from: Date.parse(from),
      until: Date.parse(until),
    }))
    .filter(({ kind, from, until }) => now < until && now >= from - (kind === 'maintenance' ? notice : 0))
    .toSorted((one, other) => one.from - other.from);
}

/** The same for `parts/flash`. */
export function describeAnnouncements({ host, t, format, language }: PageRequest, now: number) {
  return currentAnnouncements(host, now).map(({ kind, text, model, from, until }) => {
    const said = model === undefined ? text[language] : `${model}: ${text[language]}`;
    if (kind === 'note') return { kind: 'info', title: said };
    const [start, end] = [new Date(from), new Date(until)];
    const isOneDay = format.day(start).text === format.day(end).text;
    const span = {
      start: format.dayTime(start).text,
      end: (isOneDay ? format.shortTime(end) : format.dayTime(end)).text,
    };
    const key = now < from ? 'announcement.planned' : 'announcement.running';
    return { kind: now < from ? 'info' : 'warn', title: t(key, span), text: said };
  });
}

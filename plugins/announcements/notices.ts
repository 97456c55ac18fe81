import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import type { Notice, NoticeReaders, NoticeSource } from '#core/web/pages/notices.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { type Announcement, listOpenAnnouncements } from './announcements.ts';
import { announcementsSection } from './section.ts';

const maintenanceLeadMs = 7 * 86_400_000;
/** Caching limits the queries that visits to the public page cause, and keeps the page working if a query fails. */
const cacheOptions = { maxAgeMs: 2_000, timeoutMs: 5_000, maxWaitMs: 1_000, staleIfErrorMs: 3_600_000 };

const storedAnnouncements = cacheReading(cacheOptions, ({ database }) => listOpenAnnouncements(database));

/**
 * Lists the announcements to show now, from gateway.yaml and from operators, earliest start first. Never rejects: if the database does not
 * respond, operators' announcements are missing. Visitors do not see announcements meant for customers.
 */
export async function listCurrentAnnouncements(
  host: Host,
  now: number,
  readers: NoticeReaders,
): Promise<Announcement[]> {
  const stored = await storedAnnouncements(host)
    .get()
    .catch(() => []);
  return [...listConfiguredAnnouncements(host), ...stored]
    .filter(({ audience }) => audience === 'all' || readers === 'customers')
    .filter(({ kind, from, until }) => now < until && now >= from - (kind === 'maintenance' ? maintenanceLeadMs : 0))
    .toSorted((a, b) => a.from - b.from);
}

export function listConfiguredAnnouncements({ section, catalog }: Pick<Host, 'section' | 'catalog'>): Announcement[] {
  return section(announcementsSection).map(({ kind, text, from, until, model }) => ({
    kind,
    text: typeof text === 'string' ? { en: text, id: text } : text,
    model: model === undefined ? undefined : (catalog.resolve(model)?.publicName ?? model),
    from: Date.parse(from),
    until: Date.parse(until),
    audience: 'all',
  }));
}

export async function describeAnnouncements(
  request: PageRequest,
  now: number,
  readers: NoticeReaders,
): Promise<Notice[]> {
  const { host, t, format, language } = request;
  const announcements = await listCurrentAnnouncements(host, now, readers);
  return announcements.map(({ kind, text, model, from, until }) => {
    const message = model === undefined ? text[language] : `${model}: ${text[language]}`;
    if (kind === 'note') return { kind: 'info', title: message };
    const [start, end] = [new Date(from), new Date(until)];
    const isOneDay = format.day(start).text === format.day(end).text;
    const span = {
      start: format.dayTime(start).text,
      end: (isOneDay ? format.shortTime(end) : format.dayTime(end)).text,
    };
    const key = now < from ? 'announcement.planned' : 'announcement.running';
    return { kind: now < from ? 'info' : 'warn', title: t(key, span), text: message };
  });
}

export const announcementNotices: NoticeSource = {
  name: 'announcements',
  show: describeAnnouncements,
  async toJson(host, language) {
    const announcements = await listCurrentAnnouncements(host, host.now(), 'all');
    return announcements.map(({ kind, text, model, from, until }) => ({
      kind,
      text: text[language],
      model: model ?? null,
      from: new Date(from),
      until: new Date(until),
    }));
  },
};

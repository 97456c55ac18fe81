import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { afterEntry, defineResource, readPage } from '#core/web/resources/resource.ts';
import type { Announcement, StoredAnnouncement } from './announcements.ts';

type Listed = StoredAnnouncement | Announcement;

/** Page of an announcement that has not ended; the list is its parent page. */
export const announcementsPath = '/operator/announcements';

const kinds = { planned: 'waiting', shown: 'ok', over: undefined, ended: undefined } as const;

/** Operators' announcements; the page also lists the announcements in gateway.yaml. */
export const announcements = defineResource({
  name: 'announcement',
  summary: 'list announcements of operators, the newest first',
  query: object({ after: afterEntry('announcement') }),
  view: defineView<Listed>()(
    {
      announcement: { type: 'id', value: (one) => ('id' in one ? one.id : undefined) },
      text: {
        type: 'text',
        label: 'operator.announcement_text',
        fit: 'text',
        at: 'title',
        value: ({ text }) => text.en,
        cell(one, { language, host }) {
          const text = one.text[language];
          return 'id' in one && isShown(one, host.now()) ? { text, path: `${announcementsPath}/${one.id}` } : text;
        },
      },
      kind: {
        type: 'state',
        label: 'operator.field.announcement.kind',
        texts: 'operator.announcement_kind',
        at: 'note',
        of: 'kind',
      },
      for: {
        type: 'text',
        label: 'operator.field.announcement.audience',
        fit: 'brief',
        at: 'below',
        value: ({ model, audience }) => model ?? audience,
        cell: ({ model, audience }, { t }) => model ?? t(`operator.audience.${audience}`),
      },
      from: { type: 'time', at: 'hide', value: ({ from }) => new Date(from) },
      until: { type: 'time', at: 'note-end', value: ({ until }) => new Date(until) },
      state: {
        type: 'state',
        at: 'end',
        value: (one, now) => (isShown(one, now) ? 'open' : 'ended'),
        cell(one, { t, host }) {
          const state = stateOf(one, host.now());
          return { text: t(`operator.announcement_state.${state}`), kind: kinds[state] };
        },
      },
      by: { type: 'text', fit: 'brief', at: 'hide', value: (one) => ('id' in one ? one.createdBy : 'gateway.yaml') },
    },
    ['announcement', 'kind', 'for', 'from', 'until', 'state', 'by', 'text'],
  ),
  async list({ database }, { after }, { limit }) {
    const { listAnnouncements } = await import('./announcements.ts');
    const { entries, next } = await readPage(limit, (most) => listAnnouncements(database, most, after));
    // Adds the times as dates; the members with the same times in epoch ms remain until 0.7.
    const withTimes = entries.map((entry) => ({
      ...entry,
      startsAt: new Date(entry.from),
      endsAt: new Date(entry.until),
      endedEarlyAt: entry.endedAt === undefined ? null : new Date(entry.endedAt),
    }));
    return { entries: withTimes, next };
  },
});

/** @param now epoch ms */
function stateOf(one: Listed, now: number): keyof typeof kinds {
  if ('endedAt' in one && one.endedAt !== undefined) return 'ended';
  if (now >= one.until) return 'over';
  return now < one.from ? 'planned' : 'shown';
}

/** True if the announcement is or will be shown. */
function isShown(one: Listed, now: number): boolean {
  return ['planned', 'shown'].includes(stateOf(one, now));
}

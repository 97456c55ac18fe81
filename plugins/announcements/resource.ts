import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { type Announcement, listAnnouncements, type StoredAnnouncement } from './announcements.ts';

type ListedAnnouncement = StoredAnnouncement | Announcement;

/** An announcement that has not ended has its own page below the list. */
export const announcementsPath = '/operator/announcements';

const stateKinds = { planned: 'waiting', shown: 'ok', over: undefined, ended: undefined } as const;

/** The page also lists those in gateway.yaml. */
export const announcements = defineResource({
  name: 'announcement',
  summary: "list operators' announcements, newest first",
  query: object({
    state: { enum: ['open', 'ended'], description: 'Only announcements in this state.' },
    after: createAfterSchema('announcement'),
  }),
  view: defineView<ListedAnnouncement>()(
    {
      announcement: { type: 'id', value: (announcement) => ('id' in announcement ? announcement.id : undefined) },
      text: {
        type: 'text',
        label: 'operator.announcement_text',
        fit: 'text',
        at: 'title',
        value: ({ text }) => text.en,
        cell: ({ text }, { language }) => text[language],
        link: (announcement, now) =>
          'id' in announcement && isPlannedOrShown(announcement, now)
            ? `${announcementsPath}/${announcement.id}`
            : undefined,
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
        value: (announcement, now) => (isPlannedOrShown(announcement, now) ? 'open' : 'ended'),
        cell(announcement, { t, host }) {
          const state = determineState(announcement, host.now());
          return { text: t(`operator.announcement_state.${state}`), kind: stateKinds[state] };
        },
      },
      by: {
        type: 'text',
        fit: 'brief',
        at: 'hide',
        value: (announcement) => ('id' in announcement ? announcement.createdBy : 'gateway.yaml'),
      },
    },
    ['announcement', 'kind', 'for', 'from', 'until', 'state', 'by', 'text'],
  ),
  async list({ database }, query, { limit }) {
    const { entries, next } = await readPage(limit, (maxEntries) => listAnnouncements(database, maxEntries, query));
    // Adds the times as dates. The epoch ms fields are deprecated and will be removed in 0.7.
    const withTimes = entries.map((entry) => ({
      ...entry,
      startsAt: new Date(entry.from),
      endsAt: new Date(entry.until),
      endedEarlyAt: entry.endedAt === undefined ? null : new Date(entry.endedAt),
    }));
    return { entries: withTimes, next };
  },
});

function determineState(announcement: ListedAnnouncement, now: number): keyof typeof stateKinds {
  if ('endedAt' in announcement && announcement.endedAt !== undefined) return 'ended';
  if (now >= announcement.until) return 'over';
  return now < announcement.from ? 'planned' : 'shown';
}

function isPlannedOrShown(announcement: ListedAnnouncement, now: number): boolean {
  return ['planned', 'shown'].includes(determineState(announcement, now));
}

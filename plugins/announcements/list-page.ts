import { isOpen, listAnnouncements, type StoredAnnouncement } from './announcements.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { type Announcement, configuredAnnouncements } from './notices.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { describeDone } from '#core/web/actions/action-page.ts';
import { actionTable } from '#core/web/actions/action-table.ts';
import { describeTable, type TableCell, type TableSection, withRows } from '#core/web/pages/table.ts';

export const announcementsPath = '/operator/announcements';

/** Announcements and actions that are listed. */
const listed = 50;

/** `/operator/announcements`: what customers read now, will read and have read, of this page and of gateway.yaml. */
export const announcementsPage: Page = {
  path: announcementsPath,
  role: 'operator',
  title: 'operator.announcements',
  within: '/operator/health',
  template: 'announcements/list.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { host } = request;
    const [stored, actions] = await Promise.all([
      listAnnouncements(host.database, listed),
      listActions(host.database, { subject: 'announcements', limit: listed }),
    ]);
    const now = host.now();
    const configured = configuredAnnouncements(host).filter(({ until }) => now < until);
    const open = [...stored.filter((one) => isOpen(one, now)), ...configured];
    const over = stored.filter((one) => !isOpen(one, now));
    return {
      done: describeDone(request),
      isEmpty: stored.length === 0 && configured.length === 0,
      sections: withRows([
        announcementTable(
          open.toSorted((one, other) => one.from - other.from),
          'operator.announcements_open',
          now,
          request,
        ),
        announcementTable(over, 'operator.announcements_over', now, request),
        actionTable(actions, request),
      ]),
    };
  },
};

function announcementTable(
  announcements: readonly (StoredAnnouncement | Announcement)[],
  title: string,
  now: number,
  reader: PageRequest,
): TableSection {
  const { t, language } = reader;
  const textOf = (one: StoredAnnouncement | Announcement) => {
    const text = one.text[language];
    return 'id' in one && isOpen(one, now) ? { text, path: `${announcementsPath}/${one.id}` } : text;
  };
  return describeTable(reader, 'announcements', title, announcements, [
    { label: 'operator.announcement_text', fit: 'text', at: 'title', cell: textOf },
    { label: 'operator.announcement_kind', at: 'note', cell: ({ kind }) => t(`operator.announcement_kind.${kind}`) },
    {
      label: 'operator.announcement_for',
      fit: 'brief',
      at: 'below',
      cell: ({ model, audience }) => model ?? t(`operator.audience.${audience}`),
    },
    { label: 'operator.from', at: 'hide', cell: ({ from }) => new Date(from) },
    { label: 'operator.until', at: 'note-end', cell: ({ until }) => new Date(until) },
    { label: 'operator.state', at: 'end', cell: (one) => stateOf(one, now, t) },
    { label: 'operator.by', fit: 'brief', at: 'hide', cell: (one) => ('id' in one ? one.createdBy : 'gateway.yaml') },
  ]);
}

function stateOf(one: StoredAnnouncement | Announcement, now: number, t: PageRequest['t']): TableCell {
  if ('endedAt' in one && one.endedAt !== undefined) return { text: t('operator.announcement_state.ended') };
  if (now >= one.until) return { text: t('operator.announcement_state.over') };
  return now < one.from
    ? { text: t('operator.announcement_state.planned'), kind: 'waiting' }
    : { text: t('operator.announcement_state.shown'), kind: 'ok' };
}

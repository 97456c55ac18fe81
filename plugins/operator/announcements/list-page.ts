import { isOpen, listAnnouncements, type StoredAnnouncement } from '#core/business/announcements/announcements.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { type Announcement, configuredAnnouncements } from '#core/web/pages/announcements.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { actionTable } from '../shared-tables.ts';
import { type TableCell, type TableSection, withRows } from '../table-section.ts';

export const announcementsPath = '/operator/announcements';

/** Announcements and actions that are listed. */
const listed = 50;

/** `/operator/announcements`: what customers read now, will read and have read, of this page and of gateway.yaml. */
export const announcementsPage: Page = {
  path: announcementsPath,
  role: 'operator',
  title: 'operator.announcements',
  template: viewPath('operator/announcements.eta'),
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { host, t } = request;
    const [stored, actions] = await Promise.all([
      listAnnouncements(host.database, listed),
      listActions(host.database, { subject: 'announcements', limit: listed }),
    ]);
    const now = host.now();
    const configured = configuredAnnouncements(host).filter(({ until }) => now < until);
    const open = [...stored.filter((one) => isOpen(one, now)), ...configured];
    const over = stored.filter((one) => !isOpen(one, now));
    return {
      isEmpty: stored.length === 0 && configured.length === 0,
      sections: withRows([
        tableOf(
          open.toSorted((one, other) => one.from - other.from),
          t('operator.announcements_open'),
          now,
          request,
        ),
        tableOf(over, t('operator.announcements_over'), now, request),
        actionTable(actions, request),
      ]),
    };
  },
};

function tableOf(
  announcements: readonly (StoredAnnouncement | Announcement)[],
  title: string,
  now: number,
  { t, format, language }: PageRequest,
): TableSection {
  return {
    id: 'announcements',
    title,
    columns: [
      { label: t('operator.announcement_text'), fit: 'text', at: 'title' },
      { label: t('operator.announcement_kind'), at: 'note' },
      { label: t('operator.announcement_for'), fit: 'id', at: 'below' },
      { label: t('operator.from'), at: 'hide' },
      { label: t('operator.until'), at: 'note-end' },
      { label: t('operator.state'), at: 'end' },
      { label: t('operator.by'), fit: 'id', at: 'hide' },
    ],
    rows: announcements.map((one) => {
      const isEditable = 'id' in one && isOpen(one, now);
      return [
        { text: one.text[language], ...(isEditable && { path: `${announcementsPath}/${one.id}` }) },
        { text: t(`operator.announcement_kind.${one.kind}`) },
        { text: one.model ?? t(`operator.audience.${one.audience}`) },
        { ...format.dayTime(new Date(one.from)) },
        { ...format.dayTime(new Date(one.until)) },
        stateOf(one, now, t),
        { text: 'id' in one ? one.createdBy : 'gateway.yaml' },
      ];
    }),
  };
}

function stateOf(one: StoredAnnouncement | Announcement, now: number, t: PageRequest['t']): TableCell {
  if ('endedAt' in one && one.endedAt !== undefined) return { text: t('operator.announcement_state.ended') };
  if (now >= one.until) return { text: t('operator.announcement_state.over') };
  return now < one.from
    ? { text: t('operator.announcement_state.planned'), kind: 'waiting' }
    : { text: t('operator.announcement_state.shown'), kind: 'ok' };
}

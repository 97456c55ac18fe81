import { type Announcement, isOpen, listAnnouncements, type StoredAnnouncement } from './announcements.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { configuredAnnouncements } from './notices.ts';
import { actionTable } from '#core/web/resources/action-table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { announcements, announcementsPath } from './resource.ts';

/** Number of announcements and actions listed. */
const listed = 50;

/** `/operator/announcements`: current, future and past announcements from this page and gateway.yaml. */
export const announcementsPage = tablesPage({
  path: announcementsPath,
  title: 'operator.announcements',
  within: '/operator/health',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['operator.announcements_none', 'operator.announcements_text'],
  action: { path: `${announcementsPath}/new`, label: 'operator.act.announcement.create' },
  async read(request) {
    const { host } = request;
    const [stored, actions] = await Promise.all([
      listAnnouncements(host.database, listed),
      listActions(host.database, { subject: 'announcements', limit: listed }),
    ]);
    const now = host.now();
    const configured = configuredAnnouncements(host).filter(({ until }) => now < until);
    const open = [...stored.filter((one) => isOpen(one, now)), ...configured];
    const over = stored.filter((one) => !isOpen(one, now));
    const table = (title: string, entries: readonly (StoredAnnouncement | Announcement)[]) =>
      fieldTable(request, 'announcements', title, entries, announcements.view.page);
    return {
      isEmpty: stored.length === 0 && configured.length === 0,
      sections: [
        table(
          'operator.announcements_open',
          open.toSorted((first, second) => first.from - second.from),
        ),
        table('operator.announcements_over', over),
        actionTable(actions, request),
      ],
    };
  },
});

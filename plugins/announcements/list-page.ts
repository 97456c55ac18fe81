import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { describeActionTable } from '#core/web/resources/action-table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { type Announcement, isOpen, listAnnouncements, type StoredAnnouncement } from './announcements.ts';
import { listConfiguredAnnouncements } from './notices.ts';
import { announcements, announcementsPath } from './resource.ts';

/** Maximum listed announcements, and maximum listed actions. */
const maxListed = 50;

/** `/operator/announcements`: current, future and past announcements from this page and gateway.yaml. */
export const announcementsPage = tablesPage({
  path: announcementsPath,
  title: 'operator.announcements',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['operator.announcements_none', 'operator.announcements_text'],
  action: { path: `${announcementsPath}/new`, label: 'operator.act.announcement.create' },
  async read(request) {
    const { host } = request;
    const [stored, actions] = await Promise.all([
      listAnnouncements(host.database, maxListed),
      listActions(host.database, { subject: 'announcements', limit: maxListed }),
    ]);
    const now = host.now();
    const configured = listConfiguredAnnouncements(host).filter(({ until }) => now < until);
    const openAnnouncements = [...stored.filter((announcement) => isOpen(announcement, now)), ...configured];
    const endedAnnouncements = stored.filter((announcement) => !isOpen(announcement, now));
    const describeTable = (title: string, entries: readonly (StoredAnnouncement | Announcement)[]) =>
      fieldTable(request, 'announcements', title, entries, announcements.view.page);
    return {
      isEmpty: stored.length === 0 && configured.length === 0,
      sections: [
        describeTable(
          'operator.announcements_open',
          openAnnouncements.toSorted((a, b) => a.from - b.from),
        ),
        describeTable('operator.announcements_over', endedAnnouncements),
        describeActionTable(actions, request),
      ],
    };
  },
});

import { tablesPage } from '#core/web/actions/tables-page.ts';
import { listOpenAnnouncements } from './announcements.ts';
import { listConfiguredAnnouncements } from './notices.ts';
import { announcements, announcementsPath } from './resource.ts';

export const announcementsPage = tablesPage({
  path: announcementsPath,
  title: 'operator.announcements',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['operator.announcements_none', 'operator.announcements_text'],
  action: { path: `${announcementsPath}/new`, label: 'operator.act.announcement.create' },
  resource: announcements,
  record: 'announcements',
  async read({ host }) {
    const now = host.now();
    const configured = listConfiguredAnnouncements(host).filter(({ until }) => now < until);
    const openAnnouncements = [...(await listOpenAnnouncements(host.database)), ...configured];
    return {
      sections: [
        { title: 'operator.announcements_open', entries: openAnnouncements.toSorted((a, b) => a.from - b.from) },
        { title: 'operator.announcements_over', query: { state: 'ended' } },
      ],
    };
  },
});

import { type Announcement, isOpen, listAnnouncements, type StoredAnnouncement } from './announcements.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { configuredAnnouncements } from './notices.ts';
import type { Page } from '#core/web/pages/page.ts';
import { describeDone } from '#core/web/actions/action-page.ts';
import { actionTable } from '#core/web/actions/action-table.ts';
import { withRows } from '#core/web/pages/table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { announcements, announcementsPath } from './resource.ts';

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
    const table = (title: string, entries: readonly (StoredAnnouncement | Announcement)[]) =>
      fieldTable(request, 'announcements', title, entries, announcements.view.page);
    return {
      done: describeDone(request),
      isEmpty: stored.length === 0 && configured.length === 0,
      sections: withRows([
        table(
          'operator.announcements_open',
          open.toSorted((one, other) => one.from - other.from),
        ),
        table('operator.announcements_over', over),
        actionTable(actions, request),
      ]),
    };
  },
};

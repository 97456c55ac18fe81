import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { announcementCommand } from './command.ts';
import { editAnnouncementPage, endPage, newAnnouncementPage } from './form-page.ts';
import { announcementsPage } from './list-page.ts';
import { announcementMail } from './mail/kind.ts';
import { announcementNotices } from './notices.ts';
import { announcements } from './resource.ts';
import { announcementsSection } from './section.ts';

/** Temporary messages from operators to customers, on pages and by email. */
export const plugin: GatewayPlugin = {
  name: 'announcements',
  register({ gateway }) {
    gateway.section(announcementsSection);
    gateway.tables({ name: 'announcement', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.mail(announcementMail);
    gateway.notices(announcementNotices);
    for (const action of [createAction, changeAction, endAction]) gateway.action(action);
    for (const page of [announcementsPage, newAnnouncementPage, editAnnouncementPage, endPage]) gateway.page(page);
    gateway.resource(announcements);
    gateway.command(announcementCommand);
  },
};

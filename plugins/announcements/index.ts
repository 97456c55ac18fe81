import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { editAnnouncementPage, endPage, newAnnouncementPage } from './form-page.ts';
import { announcementsPage } from './list-page.ts';
import { announcementMail } from './mail.ts';
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
    for (const page of [announcementsPage, newAnnouncementPage, editAnnouncementPage, endPage]) gateway.page(page);
    gateway.resource(announcements, {
      description: 'publish, list, change and end announcements to customers',
      actions: [createAction, changeAction, endAction],
      examples: [
        'daypass announcement create --kind maintenance --audience all --since 2026-12-01T22:00+07:00 --until 2026-12-01T23:00+07:00 --text-en "The database moves." --text-id "Database dipindahkan."',
        'daypass announcement list',
      ],
    });
  },
};

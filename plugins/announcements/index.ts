import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { announcementCommand } from './command.ts';
import { editAnnouncementPage, endPage, newAnnouncementPage } from './form-page.ts';
import { announcementsPage } from './list-page.ts';
import { announcementMail } from './mail/kind.ts';
import { announcementNotices } from './notices.ts';
import { announcements } from './resource.ts';
import { announcementsSection } from './section.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Temporary messages from operators to customers, on pages and by email. */
export const plugin: GatewayPlugin = {
  name: 'announcements',
  register({ gateway }) {
    gateway.section(announcementsSection);
    gateway.tables({ name: 'announcement', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.mail(announcementMail);
    gateway.texts(defineTexts({ en, id }));
    gateway.notices(announcementNotices);
    for (const action of [createAction, changeAction, endAction]) gateway.action(action);
    for (const page of [announcementsPage, newAnnouncementPage, editAnnouncementPage, endPage]) gateway.page(page);
    gateway.resource(announcements);
    gateway.command(announcementCommand);
  },
};

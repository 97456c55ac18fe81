import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { announcements } from './resource.ts';

/** `daypass announcement …`: messages to customers on the status page and their home page. */
export const announcementCommand = resourceCommand(announcements, {
  description: 'announce something to customers, and list, change and end announcements',
  actions: [createAction, changeAction, endAction],
  examples: [
    'daypass announcement create --kind maintenance --audience all --since 2026-12-01T22:00+07:00 --until 2026-12-01T23:00+07:00 --text-en "The database moves." --text-id "Database dipindahkan."',
    'daypass announcement list',
  ],
});

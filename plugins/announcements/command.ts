import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { announcements } from './resource.ts';

const examples = [
  'daypass announcement create --kind maintenance --audience all --since 2026-12-01T22:00+07:00 --until 2026-12-01T23:00+07:00 --text-en "The database moves." --text-id "Database dipindahkan."',
  'daypass announcement list',
];

/** `daypass announcement …`: what customers read on the status page and on their home page. */
export const announcementCommand: Command = {
  name: 'announcement',
  define(parser, context) {
    parser
      .description('announce something to customers, and list, change and end announcements')
      .addHelpText('after', exampleText(examples, ''));
    addListCommand(parser, context, announcements);
    for (const action of [createAction, changeAction, endAction]) addActionCommand(parser, context, action);
  },
};

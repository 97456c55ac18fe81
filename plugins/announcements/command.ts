import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import { toSnakeCase } from '#core/platform/snake-case.ts';
import { changeAction, createAction, endAction } from './actions.ts';

/** Announcements that are listed. */
const listed = 50;

/** `daypass announcement …`: what customers read on the status page and on their home page. */
export const announcementCommand: Command = {
  name: 'announcement',
  define(parser, context) {
    parser
      .description('announce something to customers, and list, change and end announcements')
      .addHelpText(
        'after',
        exampleText(
          [
            'daypass announcement create --kind maintenance --audience all --since 2026-12-01T22:00+07:00 --until 2026-12-01T23:00+07:00 --text-en "The database moves." --text-id "Database dipindahkan."',
            'daypass announcement list',
          ],
          '',
        ),
      );
    parser
      .command('list')
      .description('list the announcements of operators, the newest first')
      .option('--json', 'print JSON')
      .addOption(zoneOption())
      .action((options: ZoneOptions & { readonly json?: true }) =>
        context.withHost(async (host) => {
          const { isOpen, listAnnouncements } = await import('./announcements.ts');
          const announcements = await listAnnouncements(host.database, listed);
          if (options.json === true) return context.print(JSON.stringify(toSnakeCase({ announcements }), null, 2));
          if (announcements.length === 0) return context.print('No announcement found.');
          const zone = zoneOf(host, options);
          const rows = announcements.map((one) => [
            one.id,
            one.kind,
            one.model ?? one.audience,
            formatTime(new Date(one.from), zone),
            formatTime(new Date(one.until), zone),
            isOpen(one, host.now()) ? 'open' : 'ended',
            one.createdBy,
            one.text.en,
          ]);
          const heading = ['announcement', 'kind', 'for', 'from', 'until', 'state', 'by', 'text'];
          for (const line of formatTable(heading, rows)) context.print(line);
        }),
      );
    for (const action of [createAction, changeAction, endAction]) addActionCommand(parser, context, action);
  },
};

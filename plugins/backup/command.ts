import { resolve } from 'node:path';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { getBackupFolder } from './section.ts';
import { takeBackupNow } from './take-scheduled.ts';

/** `daypass backup`: takes a backup now. Does not delete old backups. */
export const backupCommand: Command = {
  name: 'backup',
  define(parser, { withHost, print }) {
    parser
      .description(
        'take a consistent backup of the database and of the records that wait for it, next to a running gateway',
      )
      .option('--to <folder>', 'folder for the backup; default: backup.to in gateway.yaml')
      .option(
        '--json',
        'print JSON: { path, bytes, rows, tables, journal_files, format, version, migrations, created_at }',
      )
      .addHelpText(
        'after',
        `

The file has its name once it is complete, on the disk, and read back. daypass restore FILE restores it, daypass restore --check FILE
reads it. It has personal data: keep it as safe as the database. gateway.yaml and .env are not part of it.
Exit codes: 0 success, 1 failure, 2 invalid usage.`,
      )
      .action(({ to, json }: { to?: string; json?: true }) =>
        withHost(async (host) => {
          const startedAt = performance.now();
          const backup = await takeBackupNow(host, to === undefined ? getBackupFolder(host) : resolve(to)).catch(
            (error: unknown) => {
              throw new CommandFailed(`No backup was taken: ${error instanceof Error ? error.message : String(error)}`);
            },
          );
          const { path, bytes, rows, tables } = backup;
          const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
          // `journalFiles` is the name used through 0.5.
          if (json) print(JSON.stringify({ ...backup, journal_files: backup.journalFiles }));
          else
            print(
              `${path}: ${rows} rows in ${tables} tables, ${bytes} bytes, ${seconds} s; its checksum was read back`,
            );
        }),
      );
  },
};

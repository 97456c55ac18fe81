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
        'take a consistent backup of the database and of records waiting for it, also while a gateway is running',
      )
      .option('--to <folder>', 'folder for the backup; default: backup.to in gateway.yaml')
      .option(
        '--json',
        'print JSON: { path, bytes, rows, tables, journal_files, format, version, migrations, created_at }',
      )
      .addHelpText(
        'after',
        `

The file gets its name only after it has been written to disk in full and read back. Restore it with daypass restore FILE, or only
verify it with daypass restore --check FILE. It contains personal data: protect it like the database. gateway.yaml and .env are not
included.
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
          // `journal_files` replaced `journalFiles` after 0.5; both are printed.
          if (json) print(JSON.stringify({ ...backup, journal_files: backup.journalFiles }));
          else print(`${path}: ${rows} rows in ${tables} tables, ${bytes} bytes, ${seconds} s; checksum verified`);
        }),
      );
  },
};

import { resolve } from 'node:path';
import { isOpenShop } from '#core/business/payments/section.ts';
import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { integer, object, string } from '#core/platform/schema.ts';

const hour = 3_600_000;
const intervalsMs = { hour, day: 24 * hour, week: 7 * 24 * hour } as const;

/** `backup` in gateway.yaml. Without `every`, only `daypass backup` takes backups. */
export const backupSection = defineSection({
  name: 'backup',
  schema: object(
    { default: {} },
    'Backups of the database and of the records that wait for it, while the gateway runs. None by schedule without `every`.',
    {
      every: string(
        { enum: ['hour', 'day', 'week', 'elsewhere'] },
        'How often a backup is taken. If the folder has none, the first one is taken after the start. elsewhere: another tool takes them, such as the database’s provider.',
      ),
      keep: integer(
        { minimum: 1, maximum: 10_000, default: 7 },
        'Backups that are kept in the folder; older ones are deleted after a new one is complete.',
      ),
      to: string(
        { minLength: 1, default: 'backups' },
        'Folder for backups, relative to the data folder. Better on another disk or machine.',
      ),
    },
  ),
  notices({ every, to }, sections) {
    const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(to);
    return [
      ...(isAddress
        ? [
            `backup.to is a folder, and "${to}" is one below the data folder, on the same disk; mount the storage, or copy the backups`,
          ]
        : []),
      ...(every === undefined && isOpenShop(sections.get) ? [missingBackupNotice] : []),
    ];
  },
});

const missingBackupNotice =
  'nothing backs up orders and accounts: set backup: { every: day }, or { every: elsewhere } where another tool does';

/** Returns the ms between scheduled backups; undefined if backups are not scheduled. */
export function getBackupIntervalMs({ section }: Pick<Host, 'section'>): number | undefined {
  const { every } = section(backupSection);
  return every === undefined || every === 'elsewhere' ? undefined : intervalsMs[every];
}

/** Returns the absolute path of the folder for backups. */
export function getBackupFolder({ section, dataFolder }: Pick<Host, 'section' | 'dataFolder'>): string {
  return resolve(dataFolder, section(backupSection).to);
}

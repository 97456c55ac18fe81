import { resolve } from 'node:path';
import { isOpenShop } from '#core/business/payments/section.ts';
import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { integer, object, string } from '#core/platform/schema.ts';

const hour = 3_600_000;
const intervalsMs = { hour, day: 24 * hour, week: 7 * 24 * hour } as const;

/** `backup` in gateway.yaml. If `every` is not set, only `daypass backup` takes backups. */
export const backupSection = defineSection({
  name: 'backup',
  schema: object(
    { default: {} },
    'Backups of the database and of records waiting for it, taken while the gateway runs. Set `every` to take them on a schedule.',
    {
      every: string(
        { enum: ['hour', 'day', 'week', 'elsewhere'] },
        'How often a backup is taken. If the folder has none, the first is taken after the start. elsewhere: something else takes backups, such as your database provider.',
      ),
      keep: integer(
        { minimum: 1, maximum: 10_000, default: 7 },
        'How many backups are kept in the folder. Older ones are deleted once a new one is complete.',
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
            `backup.to must be a folder, so "${to}" is one below the data folder, on the same disk; mount the storage, or copy the backups there`,
          ]
        : []),
      ...(every === undefined && isOpenShop(sections.get) ? [missingBackupNotice] : []),
    ];
  },
});

const missingBackupNotice =
  'orders and accounts are not backed up: set backup: { every: day }, or { every: elsewhere } if another tool does it';

export function getBackupIntervalMs({ section }: Pick<Host, 'section'>): number | undefined {
  const { every } = section(backupSection);
  return every === undefined || every === 'elsewhere' ? undefined : intervalsMs[every];
}

export function getBackupFolder({ section, dataFolder }: Pick<Host, 'section' | 'dataFolder'>): string {
  return resolve(dataFolder, section(backupSection).to);
}

import { expect, it } from 'vitest';
import { listSectionNotices } from '#core/config/section.ts';
import { backupSection } from '../../../plugins/backup/section.ts';

const noticesOf = (to: string) => listSectionNotices([backupSection], { get: () => ({ to }) as never });

it('a backup to a bucket is noted', () => {
  expect(noticesOf('s3://bucket/backups')).toEqual([expect.stringMatching(/^backup\.to must be a folder, so "s3:/)]);
});

it.each(['backups', '/mnt/s3/backups'])('a backup to the folder %s is not', (to) => {
  expect(noticesOf(to)).toEqual([]);
});

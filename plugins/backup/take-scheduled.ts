import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { data } from '#core/config/sections/core-sections.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { findNewestBackup, listBackups } from '#core/platform/backup/backup-files.ts';
import type { TakenBackup } from '#core/platform/backup/take.ts';
import { getBackupState } from './backup-state.ts';
import { getBackupFolder, getBackupIntervalMs, backupSection } from './section.ts';

const maxEarlyMs = 300_000; // job times are not exact
const maxBackupMs = 6 * 3_600_000;

export async function takeBackupNow(host: Host, to: string): Promise<TakenBackup> {
  // Imported on demand: it loads the driver and the compressor, which are needed only once a day.
  const { takeBackup } = await import('#core/platform/backup/take.ts');
  return takeBackup({
    databaseUrl: host.database.url,
    journalFolder: join(host.dataFolder, 'journal'),
    folder: to,
    minFreeBytes: host.section(data).min_free_bytes,
    now: new Date(host.now()),
    signal: AbortSignal.timeout(maxBackupMs),
  });
}

/** A backup missed while the gateway was off is taken after the next start. */
export const backupJob: JobDefinition = {
  name: 'backup',
  description: 'Takes a backup if the newest one is old enough, as set by `backup` in gateway.yaml.',
  schedule: { every: 600 },
  attempts: 1,
  async run(_data, host) {
    const { keep } = host.section(backupSection);
    const intervalMs = getBackupIntervalMs(host);
    if (intervalMs === undefined) return;
    const folder = getBackupFolder(host);
    const newest = await findNewestBackup(folder, host.now());
    const ageMs = newest === undefined ? Infinity : host.now() - newest.at;
    if (ageMs < intervalMs - maxEarlyMs) return;
    const state = getBackupState(host);
    try {
      const { path, bytes, rows } = await takeBackupNow(host, folder);
      state.recordSuccess();
      host.log.info(`backup taken: ${path}, ${bytes} bytes, ${rows} rows`);
    } catch (error) {
      state.recordFailure(error);
      throw error;
    }
    const oldNames = (await listBackups(folder, host.now())).slice(0, -keep);
    // One at a time, because each removal blocks a thread of the pool if the disk does not respond.
    for (const name of oldNames) await rm(join(folder, name), { force: true });
  },
};

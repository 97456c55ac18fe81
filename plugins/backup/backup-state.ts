import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gauge, type Gauge } from '#core/gateway/health/gauge.ts';
import type { HealthCheck } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { findNewestBackup } from '#core/platform/backup/backup-files.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { WatchedDisk } from '#core/platform/watched-disk.ts';
import { getBackupFolder, getBackupIntervalMs, backupSection } from './section.ts';
import en from './texts/en.json' with { type: 'json' };

const backupReason = defineSentences(en);

const toleratedDelayRatio = 0.5;
const rereadIntervalMs = 30_000; // checks run every few seconds

interface NewestBackup {
  readonly at: number; // epoch ms
  readonly bytes: number;
}

class BackupState {
  readonly #host: Pick<Host, 'now' | 'monotonic'>;
  readonly firstIntervalStart: number;
  #failure: { readonly at: number; readonly reason: string } | undefined;
  #folder: { readonly path: string; readonly newest: WatchedDisk<NewestBackup | undefined> } | undefined;

  constructor(host: Pick<Host, 'now' | 'monotonic'>) {
    this.#host = host;
    this.firstIntervalStart = host.now();
  }

  get lastFailure() {
    return this.#failure;
  }

  recordSuccess(): void {
    this.#failure = undefined;
    this.#folder = undefined;
  }

  recordFailure(error: unknown): void {
    this.#failure = { at: this.#host.now(), reason: error instanceof Error ? error.message : String(error) };
  }

  watchNewest(path: string): WatchedDisk<NewestBackup | undefined> {
    if (this.#folder?.path !== path)
      this.#folder = { path, newest: new WatchedDisk(() => readNewest(path, this.#host.now()), rereadIntervalMs) };
    return this.#folder.newest;
  }
}

export function getBackupState(host: Pick<Host, 'keep' | 'now' | 'monotonic'>): BackupState {
  return host.keep('backup/state', () => new BackupState(host));
}

async function readNewest(folder: string, now: number): Promise<NewestBackup | undefined> {
  const newest = await findNewestBackup(folder, now);
  return newest && { at: newest.at, bytes: (await stat(join(folder, newest.name))).size };
}

/** Fails if the last scheduled backup failed, or if none was taken for one and a half intervals. */
export const backupCheck: HealthCheck = {
  name: 'backup',
  runbook: 'backup-failing',
  appliesTo: isScheduled,
  refresh: (host) => watchNewestBackup(host).readFresh(),
  check(host) {
    const { every } = host.section(backupSection);
    const intervalMs = getBackupIntervalMs(host);
    if (every === undefined || intervalMs === undefined) return { ok: true };
    const state = getBackupState(host);
    const { lastFailure } = state;
    if (lastFailure !== undefined)
      return {
        ok: false,
        reason: backupReason('backup.reason.failed', { why: lastFailure.reason }),
        since: lastFailure.at,
      };
    const dueAt =
      (watchNewestBackup(host).read()?.at ?? state.firstIntervalStart) + intervalMs * (1 + toleratedDelayRatio);
    if (host.now() <= dueAt) return { ok: true };
    return { ok: false, reason: backupReason('backup.reason.missed', { every }), since: dueAt };
  },
};

export const backupGauges: readonly Gauge[] = [
  createScheduledGauge(
    'backup_last_success_timestamp_seconds',
    'Unix time of the newest backup in the folder; 0 if there is none.',
    async (host) => ((await watchNewestBackup(host).readFresh())?.at ?? 0) / 1000,
  ),
  createScheduledGauge(
    'backup_last_bytes',
    'Size of the newest backup.',
    async (host) => (await watchNewestBackup(host).readFresh())?.bytes ?? 0,
  ),
  createScheduledGauge('backup_failed', '1 while the last scheduled backup of this instance has failed.', (host) =>
    getBackupState(host).lastFailure === undefined ? 0 : 1,
  ),
];

function watchNewestBackup(host: Host): WatchedDisk<NewestBackup | undefined> {
  return getBackupState(host).watchNewest(getBackupFolder(host));
}

function isScheduled(host: Pick<Host, 'section'>): boolean {
  return getBackupIntervalMs(host) !== undefined;
}

function createScheduledGauge(
  name: string,
  description: string,
  read: (host: Host) => number | Promise<number>,
): Gauge {
  return gauge(name, description, (host) => (isScheduled(host) ? read(host) : undefined));
}

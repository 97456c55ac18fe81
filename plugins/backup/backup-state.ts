import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gauge, type Gauge } from '#core/gateway/health/gauge.ts';
import type { HealthCheck } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { timeOfBackup } from '#core/platform/backup/backup-files.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { backupFolder, backupSection, intervals } from './section.ts';
import en from './texts/en.json' with { type: 'json' };

const say = defineSentences(en);

/** Share of the interval by which a backup may be late. */
const tolerance = 0.5;
/** Ms for which the folder is not read again: checks run every few seconds. */
const rereadAfter = 30_000;

interface Newest {
  readonly at: number; // epoch ms
  readonly bytes: number;
}

/** How the backups of this process went, and the newest one in the folder. */
class BackupState {
  readonly #host: Pick<Host, 'now' | 'monotonic'>;
  /** From when on one is due where there is none. */
  readonly startedAt: number;
  #failure: { readonly at: number; readonly reason: string } | undefined;
  #newest: Newest | undefined;
  #readAt = -Infinity;

  constructor(host: Pick<Host, 'now' | 'monotonic'>) {
    this.#host = host;
    this.startedAt = host.now();
  }

  /** The last attempt, if it has failed. */
  get failure() {
    return this.#failure;
  }

  succeeded(): void {
    this.#failure = undefined;
    this.#readAt = -Infinity;
  }

  failed(error: unknown): void {
    this.#failure = { at: this.#host.now(), reason: error instanceof Error ? error.message : String(error) };
  }

  newestIn(folder: string): Newest | undefined {
    if (this.#host.monotonic() - this.#readAt < rereadAfter) return this.#newest;
    this.#readAt = this.#host.monotonic();
    this.#newest = readNewest(folder);
    return this.#newest;
  }
}

export function backupState(host: Pick<Host, 'keep' | 'now' | 'monotonic'>): BackupState {
  return host.keep('backup/state', () => new BackupState(host));
}

function readNewest(folder: string): Newest | undefined {
  try {
    const names = readdirSync(folder).filter((name) => timeOfBackup(name) !== undefined);
    const name = names.toSorted().at(-1);
    return name === undefined ? undefined : { at: timeOfBackup(name) ?? 0, bytes: statSync(join(folder, name)).size };
  } catch {
    return undefined;
  }
}

/** Fails after a scheduled backup that has failed, and when there was none for one and a half intervals. */
export const backupCheck: HealthCheck = {
  name: 'backup',
  appliesTo: (host) => host.section(backupSection).every !== undefined,
  check(host) {
    const { every } = host.section(backupSection);
    if (every === undefined) return { ok: true };
    const state = backupState(host);
    const { failure } = state;
    if (failure !== undefined)
      return { ok: false, reason: say('backup.reason.failed', { why: failure.reason }), since: failure.at };
    const due = (state.newestIn(backupFolder(host))?.at ?? state.startedAt) + intervals[every] * (1 + tolerance);
    if (host.now() <= due) return { ok: true };
    return { ok: false, reason: say('backup.reason.missed', { every }), since: due };
  },
};

/** Readings only while backups are scheduled. */
export const backupGauges: readonly Gauge[] = [
  scheduledGauge(
    'backup_last_success_timestamp_seconds',
    'Unix time of the newest backup in the folder; 0 without any.',
    (host) => (backupState(host).newestIn(backupFolder(host))?.at ?? 0) / 1000,
  ),
  scheduledGauge(
    'backup_last_bytes',
    'Size of the newest backup.',
    (host) => backupState(host).newestIn(backupFolder(host))?.bytes ?? 0,
  ),
  scheduledGauge('backup_failed', '1 while the last scheduled backup of this instance has failed.', (host) =>
    backupState(host).failure === undefined ? 0 : 1,
  ),
];

function isScheduled({ section }: Host): boolean {
  return section(backupSection).every !== undefined;
}

function scheduledGauge(name: string, description: string, read: (host: Host) => number): Gauge {
  return gauge(name, description, (host) => (isScheduled(host) ? read(host) : undefined));
}

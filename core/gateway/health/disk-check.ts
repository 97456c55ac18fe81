import { statfsSync } from 'node:fs';
import { gauge } from './gauge.ts';
import { data } from '#core/config/sections/core-sections.ts';
import type { Host } from '../host/host.ts';
import type { HealthCheck } from './health-check.ts';
import { healthReason } from './health-reason.ts';

/** Share of the minimum that must be free beside it before a full disk passes again: files come and go on one. */
const reserve = 0.1;

interface DiskState {
  /** When the disk was first found full, epoch ms. */
  fullSince: number | undefined;
}

/** Free bytes on the disk of the data folder; undefined if it cannot be read. */
export function freeDiskBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** Whether the journal and the embedded database have room. */
export const diskCheck: HealthCheck = {
  name: 'disk',
  check(host: Host) {
    const { min_free_bytes: least } = host.section(data);
    const state = host.keep<DiskState>('health/disk', () => ({ fullSince: undefined }));
    const { dataFolder: folder } = host;
    const free = freeDiskBytes(folder);
    const wanted = state.fullSince === undefined ? least : least * (1 + reserve);
    if (free !== undefined && free >= wanted) {
      state.fullSince = undefined;
      return { ok: true };
    }
    state.fullSince ??= host.now();
    const reason =
      free === undefined
        ? healthReason('health.reason.disk.gone', { folder })
        : healthReason(`health.reason.disk.${free < least ? 'low' : 'recovering'}`, { free, folder, least });
    return { ok: false, reason, since: state.fullSince };
  },
};

export const diskGauge = gauge('free_disk_bytes', 'Free bytes on the disk of the data folder.', ({ dataFolder }) =>
  freeDiskBytes(dataFolder),
);

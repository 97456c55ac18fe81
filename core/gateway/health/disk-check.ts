import { statfs } from 'node:fs/promises';
import { gauge } from './gauge.ts';
import { WatchedDisk } from '#core/platform/watched-disk.ts';
import { data } from '#core/config/sections/core-sections.ts';
import type { Host } from '../host/host.ts';
import type { HealthCheck } from './health-check.ts';
import { healthReason } from './health-reason.ts';

/** Share of the minimum that must be free beside it before a full disk passes again: files come and go on one. */
const reserve = 0.1;

interface DiskState {
  readonly free: WatchedDisk<number>;
  /** When the disk was first found full, epoch ms. */
  fullSince: number | undefined;
}

type DiskHost = Pick<Host, 'dataFolder' | 'keep'>;

function diskState({ dataFolder, keep }: DiskHost): DiskState {
  return keep<DiskState>('health/disk', () => ({
    free: new WatchedDisk(async () => {
      const { bavail, bsize } = await statfs(dataFolder);
      return bavail * bsize;
    }, 0),
    fullSince: undefined,
  }));
}

/** Free bytes on the disk of the data folder, when they were last read; undefined if they cannot be. */
export function freeDiskBytes(host: DiskHost): number | undefined {
  return diskState(host).free.read();
}

/** Whether the journal and the embedded database have room. */
export const diskCheck: HealthCheck = {
  name: 'disk',
  runbook: 'disk-full',
  refresh: (host) => diskState(host).free.fresh(),
  check(host: Host) {
    const { min_free_bytes: least } = host.section(data);
    const state = diskState(host);
    const { dataFolder: folder } = host;
    const free = state.free.read();
    if (!state.free.isKnown && !state.free.isSilent) return { ok: true };
    const wanted = state.fullSince === undefined ? least : least * (1 + reserve);
    if (free !== undefined && free >= wanted && !state.free.isSilent) {
      state.fullSince = undefined;
      return { ok: true };
    }
    state.fullSince ??= host.now();
    const reason = state.free.isSilent
      ? healthReason('health.reason.disk.silent', { folder })
      : free === undefined
        ? healthReason('health.reason.disk.gone', { folder })
        : healthReason(`health.reason.disk.${free < least ? 'low' : 'recovering'}`, { free, folder, least });
    return { ok: false, reason, since: state.fullSince };
  },
};

export const diskGauge = gauge('free_disk_bytes', 'Free bytes on the disk of the data folder.', (host) =>
  diskState(host).free.fresh(),
);

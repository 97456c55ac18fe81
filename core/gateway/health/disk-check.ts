import { statfs } from 'node:fs/promises';
import { WatchedDisk } from '#core/platform/watched-disk.ts';
import { data } from '#core/config/sections/core-sections.ts';
import { gauge } from './gauge.ts';
import type { Host } from '../host/host.ts';
import type { HealthCheck } from './health-check.ts';
import { healthReason } from './health-reason.ts';

/** Additional share of the minimum that must be free before a full disk passes again, so that the check does not flap. */
const recoveryHeadroom = 0.1;

const minInodes = 1_000; // a journal and a database create files all the time

interface DiskRoom {
  readonly free: number; // bytes
  readonly inodes: number; // infinite on file systems without a count
}

/**
 * Reads the free space of a folder's disk.
 *
 * @throws Error if the folder is gone
 */
export async function readRoom(folder: string): Promise<DiskRoom> {
  const { bavail, bsize, ffree, files } = await statfs(folder);
  return { free: bavail * bsize, inodes: files > 0 ? ffree : Infinity };
}

/** Returns true if the disk has no room for new files, regardless of its free bytes. */
export function lacksInodes({ inodes }: DiskRoom): boolean {
  return inodes < minInodes;
}

interface DiskState {
  readonly room: WatchedDisk<DiskRoom>;
  fullSince: number | undefined; // epoch ms
}

type DiskHost = Pick<Host, 'dataFolder' | 'keep'>;

function diskState({ dataFolder, keep }: DiskHost): DiskState {
  return keep<DiskState>('health/disk', () => ({
    room: new WatchedDisk(() => readRoom(dataFolder), 0),
    fullSince: undefined,
  }));
}

/** Returns the last read number of free bytes on the disk of the data folder; undefined if it cannot be read. */
export function freeDiskBytes(host: DiskHost): number | undefined {
  return diskState(host).room.read()?.free;
}

/** Checks that the journal and the embedded database have room. */
export const diskCheck: HealthCheck = {
  name: 'disk',
  runbook: 'disk-full',
  refresh: (host) => diskState(host).room.fresh(),
  check(host: Host) {
    const { min_free_bytes: least } = host.section(data);
    const state = diskState(host);
    const { dataFolder: folder } = host;
    const room = state.room.read();
    if (!state.room.isKnown && !state.room.isSilent) return { ok: true };
    const wanted = state.fullSince === undefined ? least : least * (1 + recoveryHeadroom);
    const reason = state.room.isSilent
      ? healthReason('health.reason.disk.silent', { folder })
      : room === undefined
        ? healthReason('health.reason.disk.gone', { folder })
        : describeFull(room, folder, least, wanted);
    if (reason === undefined) {
      state.fullSince = undefined;
      return { ok: true };
    }
    state.fullSince ??= host.now();
    return { ok: false, reason, since: state.fullSince };
  },
};

/**
 * Explains why a disk counts as full, with the remedy; undefined if it has room.
 *
 * @param least bytes that must be free
 * @param wanted free bytes from which a full disk has room again
 */
export function describeFull(room: DiskRoom, folder: string, least: number, wanted: number): string | undefined {
  const { free, inodes } = room;
  if (lacksInodes(room)) return healthReason('health.reason.disk.inodes', { inodes, folder });
  if (free >= wanted) return undefined;
  return healthReason(`health.reason.disk.${free < least ? 'low' : 'recovering'}`, { free, folder, least });
}

export const diskGauge = gauge(
  'free_disk_bytes',
  'Free bytes on the disk of the data folder.',
  async (host) => (await diskState(host).room.fresh())?.free,
);

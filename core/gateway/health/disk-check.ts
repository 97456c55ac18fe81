import { statfs } from 'node:fs/promises';
import { data } from '#core/config/sections/core-sections.ts';
import { WatchedDisk } from '#core/platform/watched-disk.ts';
import type { Host } from '../host/host.ts';
import { gauge } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';
import { healthReason } from './health-reason.ts';

const recoveryHeadroom = 0.1; // free space must exceed the minimum by this share before the check passes again, so that it does not flap

const minInodes = 1_000; // the journal and the database create files continuously

interface DiskRoom {
  readonly free: number; // bytes
  readonly inodes: number; // free inodes; Infinity on file systems that do not count them
}

/** @throws Error if the folder does not exist */
export async function readDiskRoom(folder: string): Promise<DiskRoom> {
  const { bavail, bsize, ffree, files } = await statfs(folder);
  return { free: bavail * bsize, inodes: files > 0 ? ffree : Infinity };
}

/** Returns true if the disk cannot hold new files, regardless of its free bytes. */
export function lacksInodes({ inodes }: DiskRoom): boolean {
  return inodes < minInodes;
}

interface DiskState {
  readonly room: WatchedDisk<DiskRoom>;
  fullSince: number | undefined; // epoch ms
}

type DiskHost = Pick<Host, 'dataFolder' | 'keep'>;

function getDiskState({ dataFolder, keep }: DiskHost): DiskState {
  return keep<DiskState>('health/disk', () => ({
    room: new WatchedDisk(() => readDiskRoom(dataFolder), 0),
    fullSince: undefined,
  }));
}

/** Returns the last reading; undefined if the disk cannot be read. */
export function readFreeDiskBytes(host: DiskHost): number | undefined {
  return getDiskState(host).room.read()?.free;
}

export const diskCheck: HealthCheck = {
  name: 'disk',
  runbook: 'disk-full',
  refresh: (host) => getDiskState(host).room.readFresh(),
  check(host: Host) {
    const state = getDiskState(host);
    const reason = explainFault(state, host);
    if (reason === undefined) {
      state.fullSince = undefined;
      return { ok: true };
    }
    state.fullSince ??= host.now();
    return { ok: false, reason, since: state.fullSince };
  },
};

function explainFault({ room: watchedRoom, fullSince }: DiskState, host: Host): string | undefined {
  const { dataFolder: folder } = host;
  const room = watchedRoom.read();
  if (watchedRoom.isOverdue) return healthReason('health.reason.disk.silent', { folder });
  if (!watchedRoom.hasRead) return undefined;
  if (room === undefined) return healthReason('health.reason.disk.gone', { folder });
  const { min_free_bytes: minBytes } = host.section(data);
  const requiredBytes = fullSince === undefined ? minBytes : minBytes * (1 + recoveryHeadroom);
  return explainFullDisk(room, folder, minBytes, requiredBytes);
}

/**
 * Explains why a disk counts as full, with the remedy; undefined if it has room.
 *
 * @param minBytes configured minimum of free bytes
 * @param requiredBytes free bytes that the disk needs to pass; more than the minimum if it was full
 */
export function explainFullDisk(
  room: DiskRoom,
  folder: string,
  minBytes: number,
  requiredBytes: number,
): string | undefined {
  const { free, inodes } = room;
  if (lacksInodes(room)) return healthReason('health.reason.disk.inodes', { inodes, folder });
  if (free >= requiredBytes) return undefined;
  const state = free < minBytes ? 'low' : 'recovering';
  return healthReason(`health.reason.disk.${state}`, { free, folder, least: minBytes });
}

export const diskGauge = gauge(
  'free_disk_bytes',
  'Free bytes on the disk of the data folder.',
  async (host) => (await getDiskState(host).room.readFresh())?.free,
);

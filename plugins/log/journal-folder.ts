import { mkdirSync, statSync } from 'node:fs';
import type { Disk } from './disk/contract.ts';
import { listAncestors } from './disk/files.ts';
import { operations } from './disk/operations.ts';

/**
 * The journal's folder on its volume. If the volume is unmounted, files written to its mount point would fill another disk, and would be
 * hidden once it is mounted again.
 */
export class JournalFolder {
  readonly path: string;
  /** Devices on which the folder would be if its volume, or a volume above it, were unmounted. */
  readonly underlyingDevices: readonly number[];

  /** Blocks on the disk, which is allowed at startup. */
  constructor(path: string) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.path = path;
    const devices = [path, ...listAncestors(path)].map((folder) => statSync(folder).dev);
    this.underlyingDevices = [...new Set(devices.filter((device) => device !== devices[0]))];
  }

  recreate(disk: Disk): Promise<void> {
    return disk.run('ensureFolder', this.path, this.underlyingDevices);
  }

  recreateSync(): void {
    operations.ensureFolder(this.path, this.underlyingDevices);
  }
}

import { mkdirSync, statSync } from 'node:fs';
import { ancestorsOf } from './disk/files.ts';
import { operations } from './disk/operations.ts';
import type { Disk } from './disk/contract.ts';

/**
 * The folder of the journal, on its volume. Under the mount point of an unmounted volume, files would fill another disk and be
 * hidden once the volume is back.
 */
export class JournalFolder {
  readonly path: string;
  /** Devices on which the folder would be if its volume, or one above it, were unmounted. */
  readonly underlying: readonly number[];

  /** Creates the folder. Blocks on the disk, as startup may. */
  constructor(path: string) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.path = path;
    const devices = [path, ...ancestorsOf(path)].map((each) => statSync(each).dev);
    this.underlying = [...new Set(devices.filter((device) => device !== devices[0]))];
  }

  /**
   * Recreates the folder if it is gone.
   *
   * @throws Error with the reason why the folder cannot be used, and the remedy
   */
  ensure(disk: Disk): Promise<void> {
    return disk.ask('ensureFolder', this.path, this.underlying);
  }

  /** Recreates the folder at startup, blocking on the disk. */
  ensureNow(): void {
    operations.ensureFolder(this.path, this.underlying);
  }
}

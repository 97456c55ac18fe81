import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { Disk } from './disk/contract.ts';
import type { OwnSegment } from './own-segment.ts';

const noteIntervalMs = 10_000;

/** Notices files that were removed or replaced while they were written. */
export class GoneFiles {
  readonly #disk: Disk;
  readonly #log: Logger;
  readonly #notes = new Throttle(noteIntervalMs);
  /** Segment that was closed while the disk was silent, so its state is unknown. */
  #unknown: OwnSegment | undefined;
  #wereGone = false;

  constructor(disk: Disk, log: Logger) {
    this.#disk = disk;
    this.#log = log;
  }

  /** Checks whether a file no longer written was still at its path: now, or when the disk answers again. */
  look(segment: OwnSegment): void {
    if (segment.isInMemory) return;
    if (this.#disk.isSilent) {
      this.#unknown = segment;
      return;
    }
    segment.isIntact().then(
      (isIntact) => {
        if (!isIntact) this.#note(segment);
      },
      () => undefined,
    );
  }

  /** Repeats the pending check once the disk answers again. */
  lookAgain(): void {
    const segment = this.#unknown;
    this.#unknown = undefined;
    if (segment !== undefined) this.look(segment);
  }

  /** True if files were found gone since the last call. */
  take(): boolean {
    const wereGone = this.#wereGone;
    this.#wereGone = false;
    return wereGone;
  }

  #note({ path }: OwnSegment): void {
    this.#wereGone = true;
    if (!this.#notes.pass()) return;
    this.#log.error(
      `${path} was removed, replaced or unmounted while it was in use; its records are still held and go to the database`,
    );
  }
}

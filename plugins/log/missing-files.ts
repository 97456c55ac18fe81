import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { Disk } from './disk/contract.ts';
import type { OwnSegment } from './own-segment.ts';

const reportIntervalMs = 10_000;

/** Finds files that were removed or replaced while they were being written. */
export class MissingFiles {
  readonly #disk: Disk;
  readonly #log: Logger;
  readonly #reportThrottle = new Throttle(reportIntervalMs);
  #uncheckedSegment: OwnSegment | undefined; // replaced while the disk was unresponsive, so its file could not be checked
  #wereMissing = false;

  constructor(disk: Disk, log: Logger) {
    this.#disk = disk;
    this.#log = log;
  }

  /** Checks the file now, or when the disk responds again. */
  check(segment: OwnSegment): void {
    if (segment.isInMemory) return;
    if (this.#disk.isUnresponsive) {
      this.#uncheckedSegment = segment;
      return;
    }
    segment.isIntact().then(
      (isIntact) => {
        if (!isIntact) this.#reportMissing(segment);
      },
      () => undefined,
    );
  }

  checkPending(): void {
    const segment = this.#uncheckedSegment;
    this.#uncheckedSegment = undefined;
    if (segment !== undefined) this.check(segment);
  }

  takeFinding(): boolean {
    const wereMissing = this.#wereMissing;
    this.#wereMissing = false;
    return wereMissing;
  }

  #reportMissing({ path }: OwnSegment): void {
    this.#wereMissing = true;
    if (!this.#reportThrottle.tryPass()) return;
    this.#log.error(
      `${path} was removed, replaced or unmounted while it was in use; its records are still held and go to the database`,
    );
  }
}

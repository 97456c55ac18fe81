import type { Operations } from './operations.ts';
import type { UnwrittenLines } from './ring.ts';

/** Thrown if the disk does not respond in time, or its thread has ended. The operation may still run. */
export class DiskUnresponsive extends Error {
  override readonly name = 'DiskSilent';

  constructor(reason = 'the disk does not answer') {
    super(reason);
  }
}

/** Writes the journal's lines, and runs all other operations on its folder. */
export interface Disk {
  /** True from the first timeout until the disk responds. In that time, callers do not wait for it. */
  readonly isUnresponsive: boolean;
  onUnresponsive: () => void;
  /** Called with the error that stopped writing, and the lines that were not written. */
  onFailure: (error: Error, unwritten: readonly UnwrittenLines[]) => void;
  onResponse: () => void;
  /**
   * Appends complete lines to a file; `wake` starts the write. Waits for room, but all waits in one turn of the event loop together take no
   * longer than the timeout of one line.
   *
   * @returns number of bytes appended
   * @throws DiskUnresponsive
   */
  append(file: number, bytes: Buffer, offset: number, length: number): number;
  wake(): void;
  /** Position after the last appended line. */
  readonly position: number;
  /**
   * Settles when all lines before a position are in their files or the disk becomes unresponsive; undefined if that is already the case.
   * Never rejects.
   *
   * @param position default: after the last line
   */
  whenWritten(position?: number): Promise<void> | undefined;
  waitForResponse(timeoutMs: number): Promise<void>;
  copyUnwritten(): UnwrittenLines[];
  /** @throws DiskUnresponsive or the operation's error */
  run<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>>;
  /** Does not wait; the result is discarded. */
  post<Name extends keyof Operations>(name: Name, ...values: Parameters<Operations[Name]>): void;
}

/** Removes a file now or, if the disk is unresponsive, once it responds again. */
export async function runOrPost<Name extends 'remove' | 'removeOwn'>(
  disk: Disk,
  name: Name,
  ...values: Parameters<Operations[Name]>
): Promise<void> {
  try {
    await disk.run(name, ...values);
  } catch (error) {
    ignoreUnresponsive(error);
    disk.post(name, ...values);
  }
}

export function ignoreUnresponsive(error: unknown): void {
  if (!(error instanceof DiskUnresponsive)) throw error;
}

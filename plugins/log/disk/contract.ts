import type { Operations } from './operations.ts';
import type { Unwritten } from './ring.ts';

/** The disk has not answered in time, or the thread that waits for it has ended. The operation may still happen. */
export class DiskSilent extends Error {
  override readonly name = 'DiskSilent';

  constructor(reason = 'the disk does not answer') {
    super(reason);
  }
}

/** Writes the journal's lines, and runs all other operations on its folder. */
export interface Disk {
  /** True from the first timeout until the disk answers; callers do not wait for it during that time. */
  readonly isSilent: boolean;
  /** Called when the disk becomes silent. */
  onSilent: () => void;
  /** Called with the error that stopped the writing, and the unwritten lines. */
  onFailure: (error: Error, unwritten: readonly Unwritten[]) => void;
  /** Called when the disk answers again. */
  onAnswer: () => void;
  /**
   * Appends whole lines to a file; `wake` starts the write. Waits for room; all waits in one turn of the event loop take at most the
   * timeout of one line.
   *
   * @returns number of bytes taken
   * @throws DiskSilent
   */
  append(file: number, bytes: Buffer, offset: number, length: number): number;
  /** Wakes the thread to write the appended lines. */
  wake(): void;
  /** Position behind the last appended line. */
  readonly position: number;
  /**
   * Settles when all lines before a position are in their files or the disk becomes silent; undefined if either is already the case.
   * Never rejects.
   *
   * @param position default: behind the last line
   */
  written(position?: number): Promise<void> | undefined;
  /** Waits until the disk answers. @param patience ms @returns false if it does not answer in time */
  answers(patience: number): Promise<boolean>;
  /** Copies of the lines that are not in their files yet. */
  unwritten(): Unwritten[];
  /** Runs an operation on the folder. @throws DiskSilent; the operation's error */
  ask<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>>;
  /** Queues an operation without waiting for it; its result is discarded. */
  post<Name extends keyof Operations>(name: Name, ...values: Parameters<Operations[Name]>): void;
}

/** Removes a file now or, if the disk is silent, once it answers again. @throws the operation's error */
export async function askOrPost<Name extends 'remove' | 'removeOwn'>(
  disk: Disk,
  name: Name,
  ...values: Parameters<Operations[Name]>
): Promise<void> {
  try {
    await disk.ask(name, ...values);
  } catch (error) {
    if (!(error instanceof DiskSilent)) throw error;
    disk.post(name, ...values);
  }
}

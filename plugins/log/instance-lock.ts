import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { inBackground } from '#core/platform/background.ts';
import { parseJson } from '#core/platform/json.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type Disk, DiskSilent } from './disk/contract.ts';
import { operations } from './disk/operations.ts';

/*
 * Several instances can share one journal folder. Each holds `<instance>.lock` and touches it every five seconds; no other
 * instance uses the segments of a live instance. An instance is dead if
 * - it has no lock: it stopped before all its segments were shipped, or
 * - its process ran on this machine and no longer exists, or
 * - its lock was not touched for thirty seconds of observation. Clocks are not compared, so that neither a clock change nor
 *   another machine's clock makes an instance dead.
 * An instance that was paused for that long notices that its lock is gone, takes a new lock and begins a new segment. Its
 * requests of that time are recorded as interrupted.
 */
const touchEvery = 5_000; // ms
const deadAfter = 30_000; // ms

interface Owner {
  readonly pid: number;
  readonly startedAt: number; // distinguishes processes with the same pid
  /** The machine and its pid namespace. */
  readonly pidSpace: string;
}

export interface LockEvents {
  /** Prepares the folder before the lock is taken again. @throws Error if that fails */
  prepare(): Promise<void>;
  /**
   * Called when the lock was gone and has been taken again.
   *
   * @param wasPaused true if this process did not touch the lock for so long that another instance considered it dead
   */
  onLost(wasPaused: boolean): void;
  /** Called once when the lock cannot be taken again, for example on a full disk, until it can. */
  onFailure(error: unknown): void;
}

interface LockParts {
  readonly disk: Disk;
  readonly folder: string;
  readonly instance: string;
  readonly log: Logger;
  readonly events: LockEvents;
}

/** Marks this instance as alive until it is disposed. */
export class InstanceLock implements AsyncDisposable {
  readonly #path: string;
  readonly #parts: LockParts;
  readonly #timer: NodeJS.Timeout;
  #isFailing = false;
  #isKeeping = false;
  #isReleased = false;
  #keptAt = performance.now();

  /** Takes the lock. Blocks on the disk, as startup may. @throws Error if the folder is not writable */
  constructor(parts: LockParts) {
    this.#parts = parts;
    this.#path = lockPath(parts.folder, parts.instance);
    operations.writeNew(this.#path, ownLock());
    const keep = () => inBackground(parts.log, 'keeping the lock of the journal', () => this.keep());
    this.#timer = setInterval(keep, touchEvery).unref();
  }

  /** Releases the lock. If the disk is silent the lock stays: the next start sees that this process is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#isReleased = true;
    await this.#parts.disk.ask('remove', this.#path).catch(unlessSilent);
  }

  /** Touches the lock, or takes it again. */
  async keep(): Promise<void> {
    if (this.#isKeeping || this.#isReleased) return;
    this.#isKeeping = true;
    try {
      await this.#keep();
    } catch (error) {
      unlessSilent(error);
    } finally {
      this.#isKeeping = false;
    }
  }

  async #keep(): Promise<void> {
    const { disk, events } = this.#parts;
    const isThere = await disk.ask('touch', this.#path);
    const wasPaused = performance.now() - this.#keptAt > deadAfter - touchEvery;
    this.#keptAt = performance.now();
    if (isThere || this.#isReleased) return;
    try {
      await events.prepare();
      await disk.ask('writeNew', this.#path, ownLock());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) events.onFailure(error);
      this.#isFailing = true;
      return;
    }
    events.onLost(wasPaused);
  }
}

function ownLock(): string {
  return JSON.stringify({
    pid: process.pid,
    startedAt: performance.timeOrigin,
    pidSpace: pidSpace(),
  } satisfies Owner);
}

function unlessSilent(error: unknown): void {
  if (!(error instanceof DiskSilent)) throw error;
}

/** Determines whether other instances are alive. */
export class InstanceWatch {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #seen = new Map<string, { readonly touchedAt: number; readonly since: number }>();

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  async isDead(instance: string): Promise<boolean> {
    const lock = await this.#disk.ask('readText', lockPath(this.#folder, instance));
    return lock === undefined || isGone(lock.text) || this.#isUntouched(instance, lock.touchedAt);
  }

  /** Removes the lock of an instance whose segments are all shipped. */
  async forget(instance: string): Promise<void> {
    this.#seen.delete(instance);
    await this.#disk.ask('remove', lockPath(this.#folder, instance));
  }

  #isUntouched(instance: string, touchedAt: number): boolean {
    const now = performance.now();
    const seen = this.#seen.get(instance);
    if (seen?.touchedAt === touchedAt) return now - seen.since > deadAfter;
    this.#seen.set(instance, { touchedAt, since: now });
    return false;
  }
}

function lockPath(folder: string, instance: string): string {
  return join(folder, `${instance}.lock`);
}

/** The instance of a lock file; undefined for other files. */
export function instanceOfLock(name: string): string | undefined {
  return /^(.+)\.lock$/.exec(name)?.[1];
}

/** True if the owner ran on this machine and no longer exists; false if it may still exist. */
function isGone(lock: string): boolean {
  // Undefined when the owner has not finished writing it.
  const owner = parseJson(lock) as Owner | undefined;
  if (owner?.pidSpace !== pidSpace()) return false;
  if (owner.pid === process.pid) return owner.startedAt !== performance.timeOrigin;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function pidSpace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

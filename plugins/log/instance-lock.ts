import { readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '#core/platform/json.ts';

/*
 * Several instances can share one journal folder. Each holds `<instance>.lock` and touches it every five seconds; no other
 * instance uses the segments of one that is alive. An instance is dead when
 * - it has no lock: it has stopped before everything was shipped, or
 * - its process ran on this machine and no longer exists, or
 * - its lock was not touched for thirty seconds of observation. Clocks are not compared, so that neither a clock change nor
 *   another machine's clock makes an instance dead.
 * An instance that was paused for that long notices that its lock is gone, takes a new one and begins a new segment. Its
 * requests of that time are recorded as interrupted.
 */
const touchEvery = 5_000; // ms
const deadAfter = 30_000; // ms

interface Owner {
  readonly pid: number;
  /** Distinguishes processes that had the same pid. */
  readonly startedAt: number;
  /** The machine and its pid namespace. */
  readonly pidSpace: string;
}

export interface LockEvents {
  /** Prepares the folder before the lock is taken. @throws Error when that is not possible */
  prepare(): void;
  /**
   * The lock was gone and is taken again.
   *
   * @param wasPaused true when this process did not touch it for so long that another instance has considered it dead
   */
  onLost(wasPaused: boolean): void;
  /** The lock cannot be taken again, for example on a full disk. Called once until it can. */
  onFailure(error: unknown): void;
}

/** Marks this instance as alive until it is disposed. */
export class InstanceLock implements Disposable {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  readonly #events: LockEvents;
  #isFailing = false;
  #keptAt = performance.now();

  /** @throws Error when the folder cannot be written */
  constructor(folder: string, instance: string, events: LockEvents) {
    this.#path = lockPath(folder, instance);
    this.#events = events;
    this.#take();
    this.#timer = setInterval(() => this.keep(), touchEvery).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    rmSync(this.#path, { force: true });
  }

  /** Touches the lock, or takes it again. Never throws: an error in a timer would stop the gateway, which needs no journal. */
  keep(): void {
    const wasPaused = performance.now() - this.#keptAt > deadAfter - touchEvery;
    this.#keptAt = performance.now();
    if (this.#touch()) return;
    try {
      this.#take();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#events.onFailure(error);
      this.#isFailing = true;
      return;
    }
    this.#events.onLost(wasPaused);
  }

  #take(): void {
    this.#events.prepare();
    const owner: Owner = { pid: process.pid, startedAt: performance.timeOrigin, pidSpace: pidSpace() };
    writeFileSync(this.#path, JSON.stringify(owner), { mode: 0o600, flag: 'wx' });
  }

  /** @returns false when there is no lock */
  #touch(): boolean {
    const now = new Date();
    try {
      utimesSync(this.#path, now, now);
      return true;
    } catch (error) {
      return !isMissing(error);
    }
  }
}

/** Determines whether other instances are alive. */
export class InstanceWatch {
  readonly #folder: string;
  readonly #seen = new Map<string, { readonly touchedAt: number; readonly since: number }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  isDead(instance: string): boolean {
    const path = lockPath(this.#folder, instance);
    try {
      return isGone(readFileSync(path, 'utf8')) || this.#isUntouched(instance, statSync(path).mtimeMs);
    } catch (error) {
      if (isMissing(error)) return true;
      throw error;
    }
  }

  /** Removes the lock of an instance whose segments are all shipped. */
  forget(instance: string): void {
    this.#seen.delete(instance);
    rmSync(lockPath(this.#folder, instance), { force: true });
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

/** True when the owner's process ran on this machine and no longer exists; false when that is unknown. */
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

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

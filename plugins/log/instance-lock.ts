import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { runInBackground } from '#core/platform/background.ts';
import { parseJson } from '#core/platform/json.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type Disk, ignoreUnresponsive } from './disk/contract.ts';
import { operations } from './disk/operations.ts';

/*
 * Several instances can share one journal folder. Each has a file `<instance>.lock` and touches it every five seconds. Other instances do
 * not use the segments of a live instance. An instance is dead if
 * - it has no lock, because it stopped before all its segments were shipped, or
 * - its process ran on this machine and no longer exists, or
 * - another instance has watched its lock for thirty seconds without a touch. Clocks are not compared, so neither a clock change nor the
 *   clock of another machine makes an instance dead.
 *
 * An instance that was paused for that long finds its lock gone, takes a new one and starts a new segment. Requests from that time are
 * recorded as interrupted.
 */
const touchIntervalMs = 5_000;
const deadAfterMs = 30_000;

interface Owner {
  readonly pid: number;
  readonly startedAt: number; // distinguishes processes with the same pid
  readonly pidSpace: string; // machine and pid namespace
}

export interface LockEvents {
  /** Called before the lock is taken again. */
  prepareFolder(): Promise<void>;
  /** @param wasPaused true if this process was paused long enough for others to consider it dead */
  onRetaken(wasPaused: boolean): void;
  /** Called once if the lock cannot be taken again, for example on a full disk; not again until it has been taken. */
  onRetakeFailure(error: unknown): void;
}

interface LockParts {
  readonly disk: Disk;
  readonly folder: string;
  readonly instance: string;
  readonly log: Logger;
  readonly events: LockEvents;
}

export class InstanceLock implements AsyncDisposable {
  readonly #path: string;
  readonly #parts: LockParts;
  readonly #timer: NodeJS.Timeout;
  #isFailing = false;
  #isTouching = false;
  #isReleased = false;
  #touchedAt = performance.now();

  /** Blocks on the disk, which is allowed at startup. */
  constructor(parts: LockParts) {
    this.#parts = parts;
    this.#path = createLockPath(parts.folder, parts.instance);
    operations.writeNew(this.#path, renderLock());
    const touch = () => runInBackground(parts.log, 'keeping the journal lock', () => this.touch());
    this.#timer = setInterval(touch, touchIntervalMs).unref();
  }

  /** If the disk is unresponsive, the lock stays, and the next start sees that this process is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#isReleased = true;
    await this.#parts.disk.run('remove', this.#path).catch(ignoreUnresponsive);
  }

  async touch(): Promise<void> {
    if (this.#isTouching || this.#isReleased) return;
    this.#isTouching = true;
    try {
      await this.#touchOrRetake();
    } catch (error) {
      ignoreUnresponsive(error);
    } finally {
      this.#isTouching = false;
    }
  }

  async #touchOrRetake(): Promise<void> {
    const { disk, events } = this.#parts;
    const exists = await disk.run('touch', this.#path);
    const wasPaused = performance.now() - this.#touchedAt > deadAfterMs - touchIntervalMs;
    this.#touchedAt = performance.now();
    if (exists || this.#isReleased) return;
    try {
      await events.prepareFolder();
      await disk.run('writeNew', this.#path, renderLock());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) events.onRetakeFailure(error);
      this.#isFailing = true;
      return;
    }
    events.onRetaken(wasPaused);
  }
}

function renderLock(): string {
  const owner: Owner = { pid: process.pid, startedAt: performance.timeOrigin, pidSpace: readPidSpace() };
  return JSON.stringify(owner);
}

export class InstanceWatch {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #observations = new Map<string, { readonly touchedAt: number; readonly observedAt: number }>();

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  async isDead(instance: string): Promise<boolean> {
    const lock = await this.#disk.run('readText', createLockPath(this.#folder, instance));
    return lock === undefined || hasOwnerExited(lock.text) || this.#observe(instance, lock.touchedAt);
  }

  async removeLock(instance: string): Promise<void> {
    this.#observations.delete(instance);
    await this.#disk.run('remove', createLockPath(this.#folder, instance));
  }

  #observe(instance: string, touchedAt: number): boolean {
    const now = performance.now();
    const observation = this.#observations.get(instance);
    if (observation?.touchedAt === touchedAt) return now - observation.observedAt > deadAfterMs;
    this.#observations.set(instance, { touchedAt, observedAt: now });
    return false;
  }
}

function createLockPath(folder: string, instance: string): string {
  return join(folder, `${instance}.lock`);
}

export function parseLockName(name: string): string | undefined {
  return /^(.+)\.lock$/.exec(name)?.[1];
}

function hasOwnerExited(lock: string): boolean {
  // Undefined while the owner is still writing the lock.
  const owner = parseJson(lock) as Owner | undefined;
  if (owner?.pidSpace !== readPidSpace()) return false; // it may be running on another machine
  if (owner.pid === process.pid) return owner.startedAt !== performance.timeOrigin;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function readPidSpace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

import { readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/*
 * Several instances may keep their journals in one folder. Each holds `<instance>.lock` and touches it every five
 * seconds; nobody else touches the segments of an instance that is alive. An instance is dead when
 * - it has no lock: it has stopped and could not ship everything, or
 * - its process was on this machine and is gone, or
 * - its lock has not been touched for thirty seconds of our own watching. Clocks are not compared, so that neither
 *   a jump of the clock nor another machine's clock can kill anybody.
 * An instance that was stopped for so long, and goes on, sees that its lock is gone, takes a new one and begins a new
 * segment. Requests that ran at that time are on record as interrupted.
 */
const touchEvery = 5_000; // ms
const deadAfter = 30_000; // ms

interface Owner {
  readonly pid: number;
  /** Tells apart two processes that had the same pid. */
  readonly startedAt: number;
  /** Machine and, in containers, the space in which the pid counts. */
  readonly pidSpace: string;
}

/** Says that this instance is alive, until it is disposed. */
export class InstanceLock implements Disposable {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;

  /** @param onLost called when somebody has taken this instance for dead */
  constructor(folder: string, instance: string, onLost: () => void) {
    this.#path = lockPath(folder, instance);
    this.#take();
    this.#timer = setInterval(() => {
      if (!this.#touch()) onLost();
    }, touchEvery).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    rmSync(this.#path, { force: true });
  }

  #take(): void {
    const owner: Owner = { pid: process.pid, startedAt: performance.timeOrigin, pidSpace: pidSpace() };
    writeFileSync(this.#path, JSON.stringify(owner), { mode: 0o600, flag: 'wx' });
  }

  #touch(): boolean {
    const now = new Date();
    try {
      utimesSync(this.#path, now, now);
      return true;
    } catch (error) {
      if (!isMissing(error)) return true;
      this.#take();
      return false;
    }
  }
}

/** Judges whether other instances are alive. */
export class Watch {
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

  /** Removes what is left of an instance whose segments are all shipped. */
  bury(instance: string): void {
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

/** True when the owner's process was here and is no more. False also when that cannot be told. */
function isGone(lock: string): boolean {
  const owner = parseOwner(lock);
  if (owner?.pidSpace !== pidSpace()) return false;
  if (owner.pid === process.pid) return owner.startedAt !== performance.timeOrigin;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Undefined when its owner is just about to write it, or died there. */
function parseOwner(lock: string): Owner | undefined {
  try {
    return JSON.parse(lock) as Owner;
  } catch {
    return undefined;
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

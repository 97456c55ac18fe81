import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Backoff } from '#core/platform/timing/backoff.ts';
import type { Ring } from './ring.ts';
import type { Failure, ThreadMessage, ThreadRequest } from './thread.ts';

const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
const restartDelaysMs = { min: 200, max: 60_000 }; // grow until a thread has run for `steadyAfterMs`
const steadyAfterMs = 60_000;

interface DiskThreadEvents {
  onMessage(message: ThreadMessage): void;
  onEnd(error: Error): void; // called when a thread has ended, before another is started
}

/** If the thread ends by itself, for example because memory is exhausted, it is restarted. */
export class DiskThread {
  readonly #script: URL;
  readonly #ring: Ring;
  readonly #events: DiskThreadEvents;
  readonly #backoff = new Backoff(restartDelaysMs);
  readonly #queuedRequests: ThreadRequest[] = [];
  #worker: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #isEnding = false;

  constructor(script: URL, ring: Ring, events: DiskThreadEvents) {
    this.#script = script;
    this.#ring = ring;
    this.#events = events;
    this.#start();
  }

  /** `performance.now()` ms. */
  get startedAt(): number {
    return this.#startedAt;
  }

  send(request: ThreadRequest): void {
    if (this.#worker === undefined) {
      this.#queuedRequests.push(request);
      return;
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(request);
    this.#ring.countRequest();
  }

  ref(): void {
    this.#worker?.ref();
  }

  unref(): void {
    this.#worker?.unref();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#restart);
    await this.#worker?.terminate();
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#ring.reset();
    const worker = new Worker(this.#script, {
      workerData: this.#ring.shared,
      resourceLimits,
      // Files outlive the functions that open them.
      trackUnmanagedFds: false,
      execArgv: [],
      // Clears NODE_OPTIONS: it may load agents into every thread, and they do not fit into this thread's memory.
      env: { ...process.env, ...compileCacheEnvironment(), NODE_OPTIONS: '' },
    });
    let reason: Error | undefined;
    worker.on('message', (message: ThreadMessage) => this.#events.onMessage(message));
    worker.on('error', (error) => (reason = error as Error));
    // The thread accesses the ring until it has exited.
    worker.on('exit', () => this.#onExit(reason));
    worker.unref();
    this.#worker = worker;
  }

  #onExit(reason: Error | undefined): void {
    this.#worker = undefined;
    if (this.#isEnding) return;
    if (performance.now() - this.#startedAt > steadyAfterMs) this.#backoff.reset();
    this.#scheduleRestart();
    const suffix = reason === undefined ? '' : `: ${reason.message}`;
    this.#events.onEnd(new Error(`the thread that writes the journal has ended and is being restarted${suffix}`));
  }

  #scheduleRestart(): void {
    const start = () => {
      try {
        this.#start();
      } catch {
        // The thread could not be created, because memory is exhausted.
        this.#scheduleRestart();
        return;
      }
      for (const request of this.#queuedRequests.splice(0)) this.send(request);
    };
    this.#restart = setTimeout(start, this.#backoff.next()).unref();
  }
}

function compileCacheEnvironment(): NodeJS.ProcessEnv {
  // Without the process's cache of compiled modules, a thread started from sources would load the type stripper, which takes 18 MB for as
  // long as it lives.
  const folder = getCompileCacheDir();
  // The folder belongs to this version of Node.js; its parent is the one for which the cache was enabled.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

export const threadScript = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);

export function toError({ message, code }: Failure): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Backoff } from '#core/platform/timing/backoff.ts';
import type { Ring } from './ring.ts';
import type { Failure, ThreadAnswer, ThreadQuestion } from './thread.ts';

const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
const restartDelaysMs = { first: 200, longest: 60_000 }; // grow until a thread has run for `steadyAfter`
const steadyAfter = 60_000; // ms

interface DiskThreadEvents {
  onAnswer(answer: ThreadAnswer): void;
  onEnd(error: Error): void; // called when a thread ends; another one is started
}

/** The thread of a ring. It is restarted if it ends by itself, for example because memory is exhausted. */
export class DiskThread {
  readonly #script: URL;
  readonly #ring: Ring;
  readonly #events: DiskThreadEvents;
  readonly #backoff = new Backoff(restartDelaysMs);
  readonly #held: ThreadQuestion[] = [];
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

  /** Start of the thread, on the clock of performance.now(). */
  get startedAt(): number {
    return this.#startedAt;
  }

  send(question: ThreadQuestion): void {
    if (this.#worker === undefined) {
      this.#held.push(question);
      return;
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(question);
    this.#ring.noteQuestion();
  }

  /** True if the process waits for the thread before it exits. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#worker?.ref();
    else this.#worker?.unref();
  }

  /** Ends the thread without a restart. */
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
      // NODE_OPTIONS is cleared: agents that it loads into every thread do not fit into this one's memory.
      env: { ...process.env, ...compileCache(), NODE_OPTIONS: '' },
    });
    let reason: Error | undefined;
    worker.on('message', (answer: ThreadAnswer) => this.#events.onAnswer(answer));
    worker.on('error', (error) => (reason = error as Error));
    // The thread touches the ring until it has exited.
    worker.on('exit', () => this.#noteEnd(reason));
    worker.unref();
    this.#worker = worker;
  }

  #noteEnd(reason: Error | undefined): void {
    this.#worker = undefined;
    if (this.#isEnding) return;
    if (performance.now() - this.#startedAt > steadyAfter) this.#backoff.reset();
    this.#startAgain();
    const why = reason === undefined ? '' : `: ${reason.message}`;
    this.#events.onEnd(new Error(`the thread that writes the journal has ended, and is started again${why}`));
  }

  #startAgain(): void {
    const start = () => {
      try {
        this.#start();
      } catch {
        // The thread could not be created; memory is exhausted.
        this.#startAgain();
        return;
      }
      for (const question of this.#held.splice(0)) this.send(question);
    };
    this.#restart = setTimeout(start, this.#backoff.next()).unref();
  }
}

/**
 * Environment that makes a thread use the process's cache of compiled modules. Otherwise a thread started from sources would load
 * the type stripper, which takes 18 MB for its lifetime.
 */
function compileCache(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // The result is this Node.js version's subfolder of the folder that the cache was enabled with.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/** URL of the thread's script, next to this module in sources and in a build. */
export const threadScript = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);

/** The error of an operation, which came from the thread. */
export function errorOf({ message, code }: Failure): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

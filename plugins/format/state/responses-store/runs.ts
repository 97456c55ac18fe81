import type { Host } from '#core/gateway/host/host.ts';
import type { RunKey } from './run-rows.ts';

/** Background runs and waiting readers of this process. */
class BackgroundRuns {
  readonly #stops = new Map<string, () => void>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * @param stop ends the run
   * @returns a function that removes the run
   */
  add({ id }: RunKey, stop: () => void): () => void {
    this.#stops.set(id, stop);
    return () => {
      if (this.#stops.get(id) === stop) this.#stops.delete(id);
    };
  }

  stop({ id }: RunKey): void {
    this.#stops.get(id)?.();
  }

  /** Wakes the readers of a response that may have new events. */
  wake({ id }: RunKey): void {
    for (const wakeUp of this.#waiting.get(id) ?? []) wakeUp();
  }

  /** Resolves on `wake`, after this time, or when the signal aborts. */
  async woken({ id }: RunKey, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wakeUp = () => resolve();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(wakeUp));
    const timer = setTimeout(wakeUp, milliseconds);
    signal.addEventListener('abort', wakeUp, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wakeUp);
    waiting.delete(wakeUp);
    if (waiting.size === 0) this.#waiting.delete(id);
  }
}

export function runsOf(host: Host): BackgroundRuns {
  return host.keep('format/background-runs', () => new BackgroundRuns());
}

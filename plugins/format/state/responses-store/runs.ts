import type { Host } from '#core/gateway/host/host.ts';
import type { RunKey } from './run-rows.ts';

class BackgroundRuns {
  readonly #stops = new Map<string, () => void>();
  readonly #waiters = new Map<string, Set<() => void>>();

  /** Returns a function that removes the run. */
  add({ id }: RunKey, stop: () => void): () => void {
    this.#stops.set(id, stop);
    return () => {
      if (this.#stops.get(id) === stop) this.#stops.delete(id);
    };
  }

  stop({ id }: RunKey): void {
    this.#stops.get(id)?.();
  }

  wake({ id }: RunKey): void {
    for (const wakeReader of this.#waiters.get(id) ?? []) wakeReader();
  }

  async waitForWake({ id }: RunKey, maxWaitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wakeReader = () => resolve();
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(wakeReader));
    const timer = setTimeout(wakeReader, maxWaitMs);
    signal.addEventListener('abort', wakeReader, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wakeReader);
    waiters.delete(wakeReader);
    if (waiters.size === 0) this.#waiters.delete(id);
  }
}

export function getBackgroundRuns(host: Host): BackgroundRuns {
  return host.keep('format/background-runs', () => new BackgroundRuns());
}

import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { BodyLayers } from '../pipeline/body-layers.ts';

/**
 * Watches a body for chunks that do not come. How long one may take depends on the layers that are open, so it is looked at whenever
 * the shortest of these times is over: a stage whose source has ended has as long as any other from then on.
 */
export class StallWatch {
  readonly #layers: BodyLayers;
  readonly #timer: LagTolerantTimer;
  readonly #step: number; // ms
  #patience: number; // seconds
  #silentSince = performance.now();

  /** @param isUnread true while the client reads nothing; the write timeout covers that */
  constructor(layers: BodyLayers, isUnread: () => boolean, onStalled: (seconds: number) => void) {
    this.#layers = layers;
    this.#patience = layers.patience;
    this.#step = layers.leastPatience * 1000;
    this.#timer = new LagTolerantTimer(() => {
      if (isUnread() || this.#hasChanged()) this.progress();
      else if (performance.now() - this.#silentSince < this.#patience * 1000) this.#timer.restart();
      else onStalled(this.#patience);
    });
    this.#timer.start(this.#step);
  }

  /** A chunk has come. */
  progress(now: number = performance.now()): void {
    this.#silentSince = now;
    this.#timer.restart(now);
  }

  stop(): void {
    this.#timer.stop();
  }

  #hasChanged(): boolean {
    const before = this.#patience;
    this.#patience = this.#layers.patience;
    return this.#patience !== before;
  }
}

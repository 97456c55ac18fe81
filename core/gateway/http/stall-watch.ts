import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { BodyLayers } from '../pipeline/body-layers.ts';

/**
 * Detects a body whose chunks stop arriving. The allowed time depends on the open layers, so it is checked at intervals of the shortest of
 * these times: when a stage's source has ended, the next allowance starts from then.
 */
export class StallWatch {
  readonly #layers: BodyLayers;
  readonly #timer: LagTolerantTimer;
  readonly #step: number; // ms
  #patience: number; // seconds
  #silentSince = performance.now();

  /** @param isUnread true while the client does not read, which the write timeout covers */
  constructor(layers: BodyLayers, isUnread: () => boolean, onStalled: (seconds: number) => void) {
    this.#layers = layers;
    this.#patience = layers.patience;
    this.#step = layers.leastPatience * 1000;
    this.#timer = new LagTolerantTimer(() => {
      if (isUnread() || this.#refreshPatience()) this.progress();
      else if (performance.now() - this.#silentSince < this.#patience * 1000) this.#timer.restart();
      else onStalled(this.#patience);
    });
    this.#timer.start(this.#step);
  }

  /** A chunk arrived. */
  progress(now: number = performance.now()): void {
    this.#silentSince = now;
    this.#timer.restart(now);
  }

  stop(): void {
    this.#timer.stop();
  }

  /** @returns true if it has changed */
  #refreshPatience(): boolean {
    const before = this.#patience;
    this.#patience = this.#layers.patience;
    return this.#patience !== before;
  }
}

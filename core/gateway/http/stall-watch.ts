import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { BodyLayers } from '../pipeline/body-layers.ts';

/**
 * Detects a body that stalls. The timeout depends on the open layers of the body, so it is checked at intervals of the smallest possible
 * timeout. When the timeout has changed, because a stage's source has ended, the new timeout starts.
 */
export class StallWatch {
  readonly #layers: BodyLayers;
  readonly #timer: LagTolerantTimer;
  #timeout: number; // seconds
  #idleSince = performance.now();

  /** @param isUnread returns true while the client does not read, which the write timeout covers */
  constructor(layers: BodyLayers, isUnread: () => boolean, onStalled: (seconds: number) => void) {
    this.#layers = layers;
    this.#timeout = layers.stallTimeout;
    this.#timer = new LagTolerantTimer(() => {
      if (isUnread() || this.#updateTimeout()) this.progress();
      else if (performance.now() - this.#idleSince < this.#timeout * 1000) this.#timer.restart();
      else onStalled(this.#timeout);
    });
    this.#timer.start(layers.minStallTimeout * 1000);
  }

  /** Restarts the timeout. Called for each chunk. */
  progress(now: number = performance.now()): void {
    this.#idleSince = now;
    this.#timer.restart(now);
  }

  stop(): void {
    this.#timer.stop();
  }

  /** Updates the timeout; returns true if it has changed. */
  #updateTimeout(): boolean {
    const previous = this.#timeout;
    this.#timeout = this.#layers.stallTimeout;
    return this.#timeout !== previous;
  }
}

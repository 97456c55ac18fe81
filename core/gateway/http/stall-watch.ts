import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { BodyLayers } from '../pipeline/body-layers.ts';

/**
 * Detects a body that stalls. The timeout depends on the open layers of the body, so it is checked at intervals of the smallest possible
 * timeout. If it has changed since the last check, because a stage's source ended, the new timeout applies in full from that check.
 */
export class StallWatch {
  readonly #layers: BodyLayers;
  readonly #isUnread: () => boolean;
  readonly #onStalled: (seconds: number) => void;
  readonly #timer = new LagTolerantTimer(() => this.#checkIdle());
  #timeoutSeconds: number;
  #idleSince = performance.now();

  /** @param isUnread returns true while the client is not reading; the write timeout covers that case */
  constructor(layers: BodyLayers, isUnread: () => boolean, onStalled: (seconds: number) => void) {
    this.#layers = layers;
    this.#isUnread = isUnread;
    this.#onStalled = onStalled;
    this.#timeoutSeconds = layers.stallTimeoutSeconds;
    this.#timer.start(layers.minStallTimeoutSeconds * 1000);
  }

  recordChunk(now: number = performance.now()): void {
    this.#restart(now);
  }

  stop(): void {
    this.#timer.stop();
  }

  #checkIdle(): void {
    if (this.#isUnread()) {
      this.#restart();
      return;
    }
    const timeoutSeconds = this.#layers.stallTimeoutSeconds;
    const idleMs = performance.now() - this.#idleSince;
    if (timeoutSeconds !== this.#timeoutSeconds) {
      this.#timeoutSeconds = timeoutSeconds;
      this.#restart();
    } else if (idleMs < timeoutSeconds * 1000) this.#timer.restart();
    else this.#onStalled(timeoutSeconds);
  }

  #restart(now: number = performance.now()): void {
    this.#idleSince = now;
    this.#timer.restart(now);
  }
}

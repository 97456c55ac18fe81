import type { Readable } from 'node:stream';
import { defaultStageTimeout } from '#core/config/sections/core-sections.ts';

interface BodyLayer {
  readonly body: Readable;
  readonly owner: string; // `stage "cache"`
  readonly timeoutSeconds: number;
}

/**
 * The streams that form a body, innermost first. The innermost stream is created by a stage or an endpoint, the others wrap it. A layer may
 * be idle for its owner's timeout, or for the timeout of any inner layer that is still open.
 */
export class BodyLayers {
  readonly #layers: BodyLayer[] = [];

  add(body: Readable, owner: string, timeoutSeconds: number): void {
    this.#layers.push({ body, owner, timeoutSeconds });
  }

  /** Maximum time between two chunks, given the currently open layers. */
  get stallTimeoutSeconds(): number {
    return maxTimeout(this.#layers.filter(isOpen));
  }

  /** Lower bound of `stallTimeoutSeconds`. */
  get minStallTimeoutSeconds(): number {
    return maxTimeout(this.#layers.slice(-1));
  }

  /** Owner of the innermost open layer without unread data. All outer layers wait for the next chunk of this layer. */
  get stalledOwner(): string {
    const stalledLayer = this.#layers.find((layer) => isOpen(layer) && layer.body.readableLength === 0);
    return (stalledLayer ?? this.#layers.at(-1))?.owner ?? 'the pipeline';
  }

  get failedOwner(): string | undefined {
    return this.#layers.find(({ body }) => body.errored !== null)?.owner;
  }

  /** Closes every layer, because a stage that pipes a body itself does not close its source. */
  close(): void {
    for (const { body } of this.#layers.toReversed()) body.destroy();
  }
}

function maxTimeout(layers: readonly BodyLayer[]): number {
  return layers.length === 0 ? defaultStageTimeout : Math.max(...layers.map(({ timeoutSeconds }) => timeoutSeconds));
}

function isOpen({ body }: BodyLayer): boolean {
  return !body.destroyed && !body.readableEnded;
}

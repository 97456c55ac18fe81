import type { Readable } from 'node:stream';
import { defaultStageTimeout } from '#core/config/sections/core-sections.ts';

interface BodyLayer {
  readonly body: Readable;
  readonly owner: string; // `stage "cache"`
  readonly timeout: number; // seconds
}

/**
 * Streams that form a body, innermost first: the one created by a stage or an endpoint, then each wrapper by another stage. A layer may be
 * silent as long as its owner may wait, or the owner of an inner layer that is still open.
 */
export class BodyLayers {
  readonly #layers: BodyLayer[] = [];

  /** @param timeout seconds that the owner may wait */
  add(body: Readable, owner: string, timeout: number): void {
    this.#layers.push({ body, owner, timeout });
  }

  /** Seconds without a chunk after which the body has stalled, given its currently open layers. */
  get patience(): number {
    return this.#longest(this.#layers.filter(isOpen));
  }

  /** Lower bound of `patience`. */
  get leastPatience(): number {
    return this.#longest(this.#layers.slice(-1));
  }

  /** Owner of the innermost open layer without unread data: all outer layers wait for its next chunk. */
  get stalledStage(): string {
    const stalled = this.#layers.find((layer) => isOpen(layer) && layer.body.readableLength === 0);
    return (stalled ?? this.#layers.at(-1))?.owner ?? 'the pipeline';
  }

  /** Owner of the stream that broke first. */
  get broken(): string | undefined {
    return this.#layers.find(({ body }) => body.errored !== null)?.owner;
  }

  /** Closes every layer. A stage that pipes a body by hand does not close its source. */
  close(): void {
    for (const { body } of this.#layers.toReversed()) body.destroy();
  }

  #longest(layers: readonly BodyLayer[]): number {
    return layers.length === 0 ? defaultStageTimeout : Math.max(...layers.map(({ timeout }) => timeout));
  }
}

function isOpen({ body }: BodyLayer): boolean {
  return !body.destroyed && !body.readableEnded;
}

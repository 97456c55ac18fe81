import type { Readable } from 'node:stream';
import type { JsonObject } from '#core/platform/json.ts';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';

/**
 * Passes a stream on, but delivers its ending only after the complete answer has been stored, so that a client that received
 * the end can continue the response. Applies backpressure, and breaks off with the same error as the source.
 *
 * @param finished returns the answer; undefined until the source has delivered all of it or is about to
 * @param store never rejects
 */
export function holdEnding(
  source: Readable,
  finished: () => JsonObject | undefined,
  store: (answer: JsonObject) => Promise<unknown>,
): Readable {
  let stored: Promise<void> | undefined;
  let isHolding = false;
  const passing = new ReplyStream({
    read: () => {
      if (!isHolding) source.resume();
    },
    close: () => {
      source.destroy();
    },
  });
  const hold = async (answer: JsonObject): Promise<void> => {
    isHolding = true;
    source.pause();
    await store(answer);
    isHolding = false;
  };
  const pass = (chunk: Buffer): void => {
    if (passing.destroyed) return;
    if (passing.push(chunk)) source.resume();
    else source.pause();
  };
  /** Chunks and endings after a held chunk wait as well. */
  const inOrder = (deliver: () => void): void => {
    if (isHolding) stored?.then(deliver).catch((error: Error) => passing.breakOff(error));
    else deliver();
  };

  source.on('data', (chunk: Buffer) => {
    const answer = stored === undefined ? finished() : undefined;
    if (answer !== undefined) stored = hold(answer);
    inOrder(() => pass(chunk));
  });
  source.once('end', () =>
    inOrder(() => {
      if (!passing.destroyed) passing.push(null);
    }),
  );
  source.once('error', (error) => inOrder(() => passing.breakOff(error)));
  source.once('close', () => {
    if (!source.readableEnded && source.errored === null)
      inOrder(() => passing.breakOff(new Error('the answer was closed before its end')));
  });
  return passing;
}

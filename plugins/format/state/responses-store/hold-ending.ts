import type { Readable } from 'node:stream';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import type { JsonObject } from '#core/platform/json.ts';

/**
 * Forwards a stream but delivers its end only after the complete answer has been stored, so that a client that has received the end can
 * continue the response. Applies backpressure, and fails with the same error as the source.
 *
 * @param getAnswer returns the complete answer, at the latest when its last chunk arrives; undefined until then
 * @param store must not reject
 */
export function holdEnding(
  source: Readable,
  getAnswer: () => JsonObject | undefined,
  store: (answer: JsonObject) => Promise<unknown>,
): Readable {
  let storing: Promise<void> | undefined;
  let isHolding = false;
  const output = new ReplyStream({
    read: () => {
      if (!isHolding) source.resume();
    },
    close: () => {
      source.destroy();
    },
  });
  const storeAnswer = async (answer: JsonObject): Promise<void> => {
    isHolding = true;
    source.pause();
    await store(answer);
    isHolding = false;
  };
  const forward = (chunk: Buffer): void => {
    if (output.destroyed) return;
    if (output.push(chunk)) source.resume();
    else source.pause();
  };
  /** Delivers in order, once the answer is stored. No chunk arrives before `deliver` runs, because the source is paused. */
  const afterStore = (deliver: () => void): void => {
    if (isHolding) storing?.then(deliver).catch((error: Error) => output.endWithError(error));
    else deliver();
  };

  source.on('data', (chunk: Buffer) => {
    const answer = storing === undefined ? getAnswer() : undefined;
    if (answer !== undefined) storing = storeAnswer(answer);
    afterStore(() => forward(chunk));
  });
  source.once('end', () =>
    afterStore(() => {
      if (!output.destroyed) output.push(null);
    }),
  );
  source.once('error', (error) => afterStore(() => output.endWithError(error)));
  source.once('close', () => {
    if (!source.readableEnded && source.errored === null)
      afterStore(() => output.endWithError(new Error('the answer was closed before it ended')));
  });
  return output;
}

import { Readable } from 'node:stream';
import { discard, type Reply } from '#core/gateway/pipeline/reply.ts';
import { replyStreamOf } from '#core/gateway/pipeline/reply-stream.ts';
import type { RouteAnswer } from './route-attempts.ts';

/**
 * Joins the answers of several routes into one streamed reply, each continuing where the one before broke off.
 *
 * @param resume requests the continuation of a broken answer; undefined when no route continues it
 */
export function resumedReply(
  first: RouteAnswer,
  resume: (broken: RouteAnswer) => Promise<RouteAnswer | undefined>,
): Reply {
  let current = first;
  async function* read(): AsyncGenerator<Buffer | string> {
    for (;;) {
      const { body } = current.reply;
      if (body instanceof Readable) yield* body;
      else if (body !== null) yield body;
      const { fault } = current.ending;
      if (fault === undefined) return;
      const continuation = await resume(current);
      if (continuation === undefined) throw fault.error;
      current = continuation;
    }
  }
  const body = replyStreamOf(read(), () => discard(current.reply));
  // The first reader writes the error that ends the whole: the client reads one answer.
  return { ...first.reply, body };
}

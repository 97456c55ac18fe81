import { Readable } from 'node:stream';
import type { ReplyReader } from '#core/model-call/adapter.ts';
import { discard, type Reply } from '#core/pipeline/reply.ts';
import { replyStreamOf } from '#core/pipeline/reply-stream.ts';
import type { Fault } from '../attempt/fault.ts';

/** The answer of one attempt. */
export interface Served {
  readonly reply: Reply;
  readonly reader: ReplyReader;
  /** What broke the answer off, once it has ended. */
  readonly ending: { fault: Fault | undefined };
}

/**
 * One streamed reply out of the answers of several routes, each going on where the one before broke off.
 *
 * @param next asks for the rest of a broken answer; undefined when nobody goes on with it
 */
export function resumedReply(first: Served, next: (broken: Served) => Promise<Served | undefined>): Reply {
  let current = first;
  async function* read(): AsyncGenerator<Buffer | string> {
    for (;;) {
      const { body } = current.reply;
      if (body instanceof Readable) yield* body;
      else if (body !== null) yield body;
      const { fault } = current.ending;
      if (fault === undefined) return;
      const rest = await next(current);
      if (rest === undefined) throw fault.error;
      current = rest;
    }
  }
  const body = replyStreamOf(read(), () => discard(current.reply));
  // Who can write the error that ends the first answer can end the whole: it is one for whoever reads them.
  return { ...first.reply, body };
}

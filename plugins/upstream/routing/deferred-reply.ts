import { Readable } from 'node:stream';
import { type GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { type Caller, renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { discard, type Reply } from '#core/gateway/pipeline/reply.ts';
import { createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import { firstOrTimeout, timedOut } from '#core/platform/timing/deadline.ts';
import type { RouteAnswer } from './route-attempts.ts';

/**
 * Sends the headers of a stream early if the answer is slow, so that clients and proxies do not time out. The host then sends keep-alives,
 * the first immediately. Routes can still fail over, because no part of an answer was sent; but errors now arrive inside the stream.
 *
 * @param after seconds
 * @param headersNow further headers to send early
 */
export async function withEarlyHead(
  answer: Promise<Reply>,
  after: number,
  caller: Caller,
  headersNow: () => Record<string, string> = () => ({}),
): Promise<Reply> {
  const reply = await firstOrTimeout([answer], after * 1000);
  return reply === timedOut ? openEarly(answer, caller, headersNow()) : reply;
}

function openEarly(answer: Promise<Reply>, caller: Caller, more: Record<string, string>): Reply {
  let inner: Reply | undefined;
  const body = createReplyStream(
    (async function* () {
      inner = await answer;
      if (inner.body instanceof Readable) yield* inner.body;
      else if (inner.body !== null) yield inner.body;
    })(),
    () => {
      answer.then(discard, () => undefined);
    },
  );
  // If the client disconnects before the stream is read, nothing else handles the rejection.
  answer.catch(() => undefined);
  const renderFailure = (error: GatewayError): string =>
    inner?.renderFailure?.(error) ?? renderStreamError(toGatewayError(error), caller);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', ...more };
  return { status: 200, headers, body, renderFailure, isAwaited: true };
}

/**
 * Joins the answers of several routes into one streamed reply; each continues where the previous one was truncated.
 *
 * @param resume requests the continuation of a broken answer; resolves with undefined if no route continues it
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
  const body = createReplyStream(read(), () => discard(current.reply));
  // The first reader renders a final error, because the client reads the whole reply as one answer.
  return { ...first.reply, body };
}

import { Readable } from 'node:stream';
import { type Caller, renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import { discard, type Reply } from '#core/gateway/pipeline/reply.ts';
import { type GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import type { RouteReply } from './route-attempts.ts';

/**
 * Sends the headers of a stream early if the reply is slow, so that clients and proxies do not time out. The host then sends keep-alives,
 * the first one right away. Routes can still fail over, because no content has been sent, but errors now arrive inside the stream.
 */
export async function sendHeadersEarly(
  pendingReply: Promise<Reply>,
  delaySeconds: number,
  caller: Caller,
  readHeaders: () => Record<string, string> = () => ({}),
): Promise<Reply> {
  const reply = await waitForFirst([pendingReply], delaySeconds * 1000);
  return reply === notSettled ? openPendingReply(pendingReply, caller, readHeaders()) : reply;
}

function openPendingReply(pendingReply: Promise<Reply>, caller: Caller, extraHeaders: Record<string, string>): Reply {
  let inner: Reply | undefined;
  const body = createReplyStream(
    (async function* () {
      inner = await pendingReply;
      if (inner.body instanceof Readable) yield* inner.body;
      else if (inner.body !== null) yield inner.body;
    })(),
    () => {
      pendingReply.then(discard, () => undefined);
    },
  );
  // If the client disconnects before the stream is read, nothing else handles the rejection.
  pendingReply.catch(() => undefined);
  const renderFailure = (error: GatewayError): string =>
    inner?.renderFailure?.(error) ?? renderStreamError(toGatewayError(error), caller);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', ...extraHeaders };
  return { status: 200, headers, body, renderFailure, isAwaited: true };
}

/**
 * Joins the replies of several routes into one streamed reply. Each continues where the previous one was truncated. `resume` resolves with
 * undefined if no route continues the reply.
 */
export function joinReplies(
  first: RouteReply,
  resume: (interrupted: RouteReply) => Promise<RouteReply | undefined>,
): Reply {
  let current = first;
  async function* read(): AsyncGenerator<Buffer | string> {
    for (;;) {
      const { body } = current.reply;
      if (body instanceof Readable) yield* body;
      else if (body !== null) yield body;
      const { fault } = current.outcome;
      if (fault === undefined) return;
      const continuation = await resume(current);
      if (continuation === undefined) throw fault.error;
      current = continuation;
    }
  }
  const body = createReplyStream(read(), () => discard(current.reply));
  // The first reader renders a final error, because the client reads all parts as one reply.
  return { ...first.reply, body };
}

import { Readable } from 'node:stream';
import type { Reply } from '#core/gateway/pipeline/reply.ts';

/** Returns a non-streaming Chat Completions reply. */
export function chatReply(content: string): Reply {
  const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      id: 'chatcmpl-test',
      object: 'chat.completion',
      created: 0,
      model: 'test',
      choices: [choice],
    }),
  };
}

/** Returns a streaming Chat Completions reply, with one event per delta. */
export function chatStream(...deltas: readonly string[]): Reply {
  const events = [
    ...deltas.map((content) => chatEvent({ role: 'assistant', content }, null)),
    chatEvent({}, 'stop'),
    'data: [DONE]\n\n',
  ];
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: Readable.from(
      events.map((text) => Buffer.from(text)),
      { objectMode: false },
    ),
  };
}

function chatEvent(delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-test', object: 'chat.completion.chunk', created: 0, model: 'test', choices })}\n\n`;
}

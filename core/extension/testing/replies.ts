import { Readable } from 'node:stream';
import type { Reply } from '#core/gateway/pipeline/reply.ts';

/** Returns a whole answer in the format of Chat Completions. */
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

/** Returns a streamed answer in the format of Chat Completions, with a chunk for each piece. */
export function chatStream(...pieces: readonly string[]): Reply {
  const chunks = [
    ...pieces.map((content) => chunk({ role: 'assistant', content }, null)),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ];
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: Readable.from(
      chunks.map((text) => Buffer.from(text)),
      { objectMode: false },
    ),
  };
}

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-test', object: 'chat.completion.chunk', created: 0, model: 'test', choices })}\n\n`;
}

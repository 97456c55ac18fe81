import { answers } from '../plugins/upstream/streams-fixture.ts';
import { type Handler, type RecordedRequest, type ScriptedResponse } from './faulty-upstream.ts';
import type { UpstreamTextFormat } from './formats.ts';

/** Returns a request's format, by its path. */
export function formatOf({ path }: RecordedRequest): UpstreamTextFormat {
  if (path.includes('/responses')) return 'responses';
  if (path.includes('/messages')) return 'messages';
  if (path.includes('/chat/completions')) return 'chat';
  return path.includes('/api/chat') ? 'ollama' : 'gemini';
}

/** Sends the beginning of an answer in the request's format, up to its first content. */
export async function beginAnswer(request: RecordedRequest, response: ScriptedResponse): Promise<void> {
  const format = formatOf(request);
  if (format === 'ollama') {
    response.head(200, { 'content-type': 'application/x-ndjson' });
    await response.write(ollamaLine({ message: { role: 'assistant', content: 'one ' }, done: false }));
    return;
  }
  response.sse();
  const { opening, content } = answers[format];
  await response.write(opening.join('') + (content[0] ?? ''));
}

/** Sends the rest of the answer, which is `one two` in full. */
export async function endAnswer(request: RecordedRequest, response: ScriptedResponse): Promise<void> {
  const format = formatOf(request);
  if (format === 'ollama') {
    await response.write(ollamaLine({ message: { role: 'assistant', content: 'two' }, done: false }));
    const counts = { prompt_eval_count: 1, eval_count: 2 };
    response.end(
      ollamaLine({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', ...counts }),
    );
    return;
  }
  const { content, closing } = answers[format];
  await response.write([...content.slice(1), ...closing].join(''));
  response.end();
}

function ollamaLine(members: object): string {
  return `${JSON.stringify({ model: 'm', created_at: '2026-11-28T00:00:00Z', ...members })}\n`;
}

/** Answers every request with a stream of `one two`, in the request's format. */
export const answerInAnyFormat: Handler = async (request, response) => {
  await beginAnswer(request, response);
  await endAnswer(request, response);
};

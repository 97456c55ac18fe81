import { answers } from '../plugins/upstream/streams-fixture.ts';
import { type Handler, type RecordedRequest, type ScriptedResponse } from './faulty-upstream.ts';
import type { UpstreamTextFormat } from './formats.ts';

export function formatOf({ path }: RecordedRequest): UpstreamTextFormat {
  if (path.includes('/responses')) return 'responses';
  if (path.includes('/messages')) return 'messages';
  if (path.includes('/chat/completions')) return 'chat';
  return path.includes('/api/chat') ? 'ollama' : 'gemini';
}

/** Answers in the request's format, up to the first content. */
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

/** The whole answer is `one two`. */
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

/** Streams `one two`. */
export const answerInAnyFormat: Handler = async (request, response) => {
  await beginAnswer(request, response);
  await endAnswer(request, response);
};

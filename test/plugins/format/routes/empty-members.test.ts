import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../../support/formats.ts';
import { bytesOf, call, chunk, dataIn, head, readerOf, streams, wholes } from './reply-fixture.ts';

/** What a client of the same format gets. */
function whole(format: TextFormat, answer: JsonObject): JsonObject {
  const { body } = readerOf(format, format, false).whole(Buffer.from(JSON.stringify(answer)), 'application/json');
  return JSON.parse(body.toString()) as JsonObject;
}

function streamed(format: TextFormat, events: readonly JsonObject[]): string {
  const reader = readerOf(format, format, true);
  const text = reader.push(bytesOf(format, events)).toString() + reader.end().toString();
  expect(reader.failure).toBeUndefined();
  return text;
}

const error = { code: '', message: '', param: null, type: '' };

/** A part of Gemini with all that it may be. */
const part = (more: JsonObject) => ({
  functionCall: { name: '', args: null, id: '' },
  functionResponse: { name: '', response: null },
  inlineData: { mimeType: '', data: '' },
  fileData: null,
  executableCode: {},
  ...more,
  thought: false,
});
const answer = (parts: JsonObject[]) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
  promptFeedback: { blockReason: '' },
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  error: { code: 0, message: '', status: '' },
});

describe('servers that write every member of an answer', () => {
  it('give Gemini clients parts of one kind, and no error', () => {
    const given = answer([part({ text: 'Hi' }), part({ text: '', functionCall: { name: 'f', args: { a: 1 } } })]);
    const expected = [
      { text: 'Hi', thought: false },
      { text: '', functionCall: { name: 'f', args: { a: 1 } }, thought: false },
    ];
    const got = whole('gemini', given);
    expect(got).not.toHaveProperty('error');
    expect(got['candidates']).toMatchObject([{ content: { parts: expected } }]);
    const [event] = dataIn(streamed('gemini', [given]));
    expect(event).not.toHaveProperty('error');
    expect(event?.['candidates']).toMatchObject([{ content: { parts: expected } }]);
    expect(JSON.stringify(event)).not.toContain('inlineData');
  });

  it('do not withhold an answer by an empty reason', () => {
    const reader = readerOf('gemini', 'gemini', false);
    reader.whole(Buffer.from(JSON.stringify(answer([{ text: 'Hi' }]))), 'application/json');
    expect(reader.isPolicyRefusal).toBe(false);
  });

  it('give Chat clients no error member with an answer, whole and streamed', () => {
    const message = { role: 'assistant', content: 'Hi' };
    const plain = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(whole('chat', { ...plain, error })).not.toHaveProperty('error');
    const chunks = [chunk({ role: 'assistant', content: 'H' }), chunk({ content: 'i' }), chunk({}, 'stop')];
    const text = streamed(
      'chat',
      chunks.map((one) => ({ ...one, error })),
    );
    expect(text).not.toContain('"error"');
    expect(text).toContain('"content":"i"');
  });

  it('give Messages clients no citations where there are none, which AI SDK 5 and 6 refuse as null', () => {
    const text = { type: 'text', text: 'Hi', citations: null };
    const cited = { type: 'text', text: 'Ho', citations: [{ type: 'char_location' }] };
    expect(whole('messages', { ...wholes.messages([]), content: [text, cited] })['content']).toEqual([
      { type: 'text', text: 'Hi' },
      cited,
    ]);
    const [start, ...ending] = streams.messages([]);
    const opened = { type: 'content_block_start', index: 0, content_block: { ...text, text: '' } };
    const events = [start, opened, { type: 'content_block_stop', index: 0 }, ...ending] as JsonObject[];
    expect(streamed('messages', events)).not.toContain('citations');
  });

  it('give Responses clients null for an error and details that say nothing', () => {
    const empty = { error, incomplete_details: { reason: '' } };
    const completed = { ...wholes.responses([call('c', 'f')]), ...empty };
    expect(whole('responses', completed)).toMatchObject({ error: null, incomplete_details: null });
    const events = streams.responses([call('c', 'f')]);
    const last = { ...events.at(-1), response: completed } as JsonObject;
    expect(streamed('responses', [...events.slice(0, -1), last])).not.toContain('"message":""');
  });
});

import { expect } from 'vitest';
import type { Usage } from '#core/gateway/model-call/adapter.ts';
import { toPlainId } from '../../../../plugins/format/canonical/call-ids.ts';
import type { TextFormat } from '../../../support/formats.ts';
import type { Answer, Call, Counts } from '../../../support/readers/answer.ts';
import type { Expected, Recording } from './recordings.ts';

/** Error codes, types and statuses by format. */
const errorCodes: Readonly<Record<TextFormat, Readonly<Record<'overloaded' | 'failed', string>>>> = {
  chat: { overloaded: 'server_is_overloaded', failed: 'upstream_failed' },
  responses: { overloaded: 'server_error', failed: 'server_error' },
  messages: { overloaded: 'overloaded_error', failed: 'api_error' },
  gemini: { overloaded: 'UNAVAILABLE', failed: 'UNAVAILABLE' },
};

/** Compares what a client has read with the sidecar. */
export function expectAnswer(client: TextFormat, answer: Answer, { format, expected }: Recording): void {
  if (expected.error !== undefined) return expectError(client, answer, expected);
  expect(answer.error).toBeUndefined();
  expectText(client, answer, expected);
  expectWords(answer.reasoning, expected.reasoning ?? '');
  expectCalls(client, answer.calls, expected.calls ?? []);
  // Messages has no images: words stand in their place.
  expect(answer.images).toEqual(client === 'messages' ? [] : (expected.images ?? []));
  expect([...new Set(answer.citations)]).toEqual(expected.citations ?? []);
  expect(finishesOf(client, expected)).toContain(answer.finish);
  expectCounts(answer.usage, countsOf(client, format, expected.usage));
}

/** Compares the counts for the request record with the sidecar. */
export function expectRecorded(usage: Usage | undefined, { usage: counts = {} }: Expected): void {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage ?? {};
  expect({ input, output, cached: cacheRead, written: cacheWrite, reasoning }).toMatchObject(counts);
}

function expectError(client: TextFormat, answer: Answer, { error = 'failed', text = '' }: Expected): void {
  expect(answer.finish).toBeUndefined();
  expect(answer.error).toEqual({ code: errorCodes[client][error], message: expect.stringMatching(/\S/) });
  expectWords(answer.text, text);
}

/** Gemini has no member for a refusal, so it stands in the text. */
function expectText(client: TextFormat, answer: Answer, { text = '', refusal, images = [] }: Expected): void {
  if (client === 'messages' && images.length > 0) {
    const omitted = /\n*\[image omitted: image\/png, 1 KB; [^\]]*\]\n*/g;
    expect(answer.text.match(omitted)).toHaveLength(images.length);
    return expectWords(answer.text.replaceAll(omitted, ''), text);
  }
  if (refusal === true) return;
  const isInText = client === 'gemini' && refusal !== undefined;
  expectWords(answer.text, isInText ? [text, refusal].flat() : text);
  if (!isInText) expectWords(answer.refusal, refusal ?? answer.refusal);
}

/** A list of texts may come with blank lines between them or without. */
function expectWords(text: string, expected: string | readonly string[]): void {
  if (typeof expected === 'string') expect(text).toBe(expected);
  else expect(text.replaceAll('\n\n', '')).toBe(expected.join('').replaceAll('\n\n', ''));
}

/**
 * Only OpenAI's formats have freeform tools; elsewhere their text is the one argument of a function. Clients of Messages get ids
 * that Anthropic accepts.
 */
function expectCalls(client: TextFormat, calls: readonly Call[], expected: readonly Call[]): void {
  const hasFreeform = client === 'chat' || client === 'responses';
  const named = expected.map((call) =>
    client === 'messages' && call.id !== undefined ? { ...call, id: toPlainId(call.id) } : call,
  );
  const wanted = named.map(({ input, ...call }) => {
    if (input === undefined) return call;
    return { ...call, ...(hasFreeform ? { input } : { arguments: { input } }) };
  });
  expect(calls).toMatchObject(wanted);
  expect(calls).toHaveLength(wanted.length);
  const ids = calls.flatMap(({ id = '' }) => (id === '' ? [] : [id]));
  expect(new Set(ids).size).toBe(ids.length);
}

/** Only Messages knows pauses; elsewhere the answer is truncated. A refusal ends as a stop or as filtered content, depending on the format. */
function finishesOf(client: TextFormat, { finish, refusal }: Expected): unknown[] {
  if (refusal !== undefined) return ['stop', 'content_filter'];
  return [finish === 'pause' && client !== 'messages' ? 'length' : finish];
}

function expectCounts(counts: Counts | undefined, expected: Counts | undefined): void {
  expect(counts).toMatchObject({ input: expect.any(Number), output: expect.any(Number) });
  expect(counts).toMatchObject(expected ?? {});
}

/**
 * The counts that a client can read. A same-format route leaves details in the vendor's own spelling, and Gemini has no
 * member for tokens written to a cache.
 */
function countsOf(client: TextFormat, format: Recording['format'], { input, output, ...details }: Counts = {}): Counts {
  const { written, ...read } = details;
  const comparable = client === 'gemini' || written === undefined ? read : { ...read, written };
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(client !== format && comparable),
  };
}

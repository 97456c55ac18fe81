import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import type { Fragment } from '../../../../../../plugins/format/canonical/reply.ts';
import { geminiCodec } from '../../../../../../plugins/format/formats/gemini/codec.ts';
import { runs } from '../../../../../support/runs.ts';
import { chunkSchema, errorSchema, wholeReplySchema } from '../../../../../support/schemas/gemini.ts';
import { asking, guarded, withThoughts } from '../fixture.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
const isWhole = ajv.compile(wholeReplySchema);
const isChunk = ajv.compile(chunkSchema);
const isError = ajv.compile(errorSchema);

const done: readonly Fragment[] = [{ type: 'finish', reason: 'stop' }, { type: 'end' }];
const unseal = (part: JsonObject) => Buffer.from(String(part['thoughtSignature']), 'base64').toString();

function checked(value: JsonObject, check: typeof isWhole): JsonObject {
  const travelled = JSON.parse(JSON.stringify(value)) as JsonObject;
  if (!check(travelled)) throw new Error(`${ajv.errorsText(check.errors)}\n${JSON.stringify(travelled)}`);
  return travelled;
}

/** The chunks of a stream, each checked for its frame and its schema. */
function streamed(fragments: readonly Fragment[], request: JsonObject = withThoughts): JsonObject[] {
  const encoder = geminiCodec.createEncoder(asking(request));
  const stream = guarded(fragments)
    .events.map((event) => encoder.encodeEvent(event))
    .join('');
  const blocks = stream.split('\n\n');
  expect(blocks.pop()).toBe('');
  return blocks.map((block, index) => {
    expect(block).toMatch(/^data: .*$/);
    const chunk = JSON.parse(block.slice('data: '.length)) as JsonObject;
    return checked(chunk, index === blocks.length - 1 ? isWhole : isChunk);
  });
}

function whole(fragments: readonly Fragment[], request: JsonObject = withThoughts): JsonObject {
  const { guard } = guarded(fragments);
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return checked(geminiCodec.createEncoder(asking(request)).encodeWhole(guard.reply), isWhole);
}

interface Candidate {
  readonly content: { readonly parts: JsonObject[] };
  readonly finishReason?: string;
  readonly groundingMetadata?: JsonObject;
}

const candidateOf = (reply: JsonObject) => (reply['candidates'] as unknown as Candidate[])[0] as Candidate;
const partsOf = (reply: JsonObject) => candidateOf(reply).content.parts;
const partsOfAll = (chunks: readonly JsonObject[]) => chunks.flatMap(partsOf);
const countsOf = (fragments: readonly Fragment[]) => streamed(fragments).map(({ usageMetadata }) => usageMetadata);

/**
 * Chunks as a client puts them together: neighbours of one kind become one part, empty ones go. The signature of a text is
 * the same on the text and behind it.
 */
function fold(chunks: readonly JsonObject[]): JsonObject {
  const parts: JsonObject[] = [];
  for (const part of partsOfAll(chunks)) {
    const { thoughtSignature, ...said } = part;
    if (typeof part['text'] !== 'string') {
      parts.push(part);
      continue;
    }
    const last = parts.at(-1);
    const isSame = typeof last?.['text'] === 'string' && last['thought'] === part['thought'];
    if (isSame) last['text'] = String(last['text']) + part['text'];
    else if (part['text'] !== '') parts.push(said);
    if (thoughtSignature !== undefined) parts.push({ thoughtSignature });
  }
  const end = chunks.at(-1) as JsonObject;
  return { ...end, candidates: [{ ...candidateOf(end), content: { role: 'model', parts } }] } as unknown as JsonObject;
}

const everything: readonly Fragment[] = [
  { type: 'reasoning', text: 'Let me ' },
  { type: 'reasoning', text: 'see.' },
  { type: 'reasoning_state', kind: 'signature', data: 'EqQB' },
  { type: 'text', text: 'Grüße' },
  { type: 'citation', citation: { url: 'https://e.com', title: 'E', quote: 'you', start: 6, end: 9 } },
  { type: 'text', text: ' you' },
  { type: 'call', key: 0, id: 'call_1', name: 'look' },
  { type: 'input', key: 0, text: '{"at":' },
  { type: 'input', key: 0, text: '"sky"}' },
  { type: 'call_end', key: 0 },
  { type: 'reasoning', text: 'And.' },
  { type: 'reasoning_state', kind: 'thought', data: 'Zz==' },
  { type: 'call', key: 1, id: 'call_2', name: 'wait' },
  { type: 'call_end', key: 1 },
  { type: 'call', key: 2, id: 'call_3', name: 'patch', form: 'freeform' },
  { type: 'input', key: 2, text: '*** Begin' },
  { type: 'call_end', key: 2 },
  { type: 'usage', usage: { input: 20, output: 9, cacheRead: 5, reasoning: 3 } },
  ...done,
];

describe('encoding an answer as Gemini', () => {
  it('blocks of an answer become Gemini parts in their order', () => {
    const parts = partsOf(whole(everything));
    expect(parts).toMatchObject([
      { text: 'Let me see.', thought: true },
      { text: 'Grüße you' },
      { functionCall: { id: 'call_1', name: 'look', args: { at: 'sky' } } },
      { text: 'And.', thought: true },
      { functionCall: { id: 'call_2', name: 'wait', args: {} } },
      { functionCall: { id: 'call_3', name: 'patch', args: { input: '*** Begin' } } },
    ]);
    // Most clients keep it on a call, also where text came between.
    expect(unseal(parts[2] as JsonObject)).toBe('dps1s0a1b2c3d.EqQB');
    expect(unseal(parts[4] as JsonObject)).toBe('dps1t0a1b2c3d.Zz==');
    expect(parts[1]).not.toHaveProperty('thoughtSignature');
    expect(parts[5]).not.toHaveProperty('thoughtSignature');
  });

  it('a Gemini answer is the same whether streamed or whole', () => {
    expect(fold(streamed(everything))).toEqual(fold([whole(everything)]));
  });

  it('a Gemini stream carries text as it arrives, and calls whole', () => {
    const parts = partsOfAll(streamed(everything));
    expect(parts.flatMap((part) => (part['thought'] === undefined && 'text' in part ? [part['text']] : []))).toEqual([
      'Grüße',
      ' you',
    ]);
    expect(parts.filter((part) => 'functionCall' in part)).toHaveLength(3);
  });

  it('calls of a Gemini stream come together, with the end of the answer', () => {
    const chunks = streamed(everything, {});
    expect(partsOf(chunks.at(-1) as JsonObject).filter((part) => 'functionCall' in part)).toHaveLength(3);
    expect(candidateOf(chunks.at(-1) as JsonObject).finishReason).toBe('STOP');
  });

  it('Gemini clients get the text of thoughts only on request, but always their signature', () => {
    for (const request of [{}, { generationConfig: { thinkingConfig: { includeThoughts: false } } }]) {
      const parts = partsOf(whole(everything, request));
      expect(parts.some((part) => 'thought' in part)).toBe(false);
      expect(parts.filter((part) => 'thoughtSignature' in part)).toHaveLength(2);
    }
    const snake = { generation_config: { thinking_config: { include_thoughts: true } } };
    expect(partsOf(whole(everything, snake))[0]).toHaveProperty('thought', true);
  });

  it('the signature of thoughts goes to the end of a Gemini answer if nothing follows them', () => {
    const fragments: Fragment[] = [
      { type: 'text', text: 'So.' },
      { type: 'reasoning_state', kind: 'thought', data: 'Zz==' },
      ...done,
    ];
    expect(partsOf(whole(fragments))).toMatchObject([
      { text: 'So.' },
      { text: '', thoughtSignature: expect.any(String) },
    ]);
    expect(fold(streamed(fragments))).toEqual(fold([whole(fragments)]));
  });

  it('the signature of thoughts stands on the last text of a whole Gemini answer that follows them', () => {
    const fragments: Fragment[] = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning_state', kind: 'thought', data: 'Zz==' },
      { type: 'text', text: 'So.' },
      ...done,
    ];
    expect(partsOf(whole(fragments))).toEqual([
      { text: 'Hm.', thought: true },
      { text: 'So.', thoughtSignature: expect.any(String) },
    ]);
  });

  it('two signatures in a row are both kept in a Gemini answer', () => {
    const fragments: Fragment[] = [
      { type: 'reasoning_state', kind: 'redacted', data: 'a' },
      { type: 'reasoning_state', kind: 'redacted', data: 'b' },
      { type: 'text', text: 'So.' },
      ...done,
    ];
    const parts = partsOf(whole(fragments));
    expect(parts).toMatchObject([{ text: '' }, { text: 'So.' }]);
    expect(parts.map((part) => unseal(part as JsonObject))).toEqual(['dps1x0a1b2c3d.a', 'dps1x0a1b2c3d.b']);
  });

  it.each([true, false])(
    'reasoning in a Gemini answer comes back as reasoning of its vendor, before the text, with thoughts: %s',
    (hasThoughts) => {
      const request = { generationConfig: { thinkingConfig: { includeThoughts: hasThoughts } } };
      const parts = partsOf(whole(everything, request));
      const contents = [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts },
      ];
      const { items } = geminiCodec.decodeRequest({ contents }, new Notes());
      expect(items.slice(1)).toMatchObject([
        { type: 'reasoning', text: hasThoughts ? 'Let me see.' : '', state: { kind: 'signature', data: 'EqQB' } },
        { type: 'message', parts: [{ text: 'Grüße you' }] },
        { type: 'tool_call', name: 'look' },
        { type: 'reasoning', state: { kind: 'thought', data: 'Zz==' } },
        { type: 'tool_call', name: 'wait' },
        { type: 'tool_call', name: 'patch' },
      ]);
    },
  );

  it('a Gemini answer of an empty text still has a part', () => {
    const silent: Fragment[] = [{ type: 'usage', usage: { input: 5, output: 1 } }, ...done];
    expect(partsOf(whole(silent))).toEqual([{ text: '' }]);
    expect(streamed(silent)).toHaveLength(1);
  });

  it('malformed input of a call is kept in a Gemini answer', () => {
    const broken: Fragment[] = [
      { type: 'call', key: 0, id: 'a', name: 'ls' },
      { type: 'input', key: 0, text: '{"a":' },
      { type: 'finish', reason: 'length' },
      { type: 'end' },
    ];
    expect(candidateOf(whole(broken))).toMatchObject({
      content: { parts: [{ functionCall: { args: { _raw: '{"a":' } } }] },
      finishReason: 'MAX_TOKENS',
    });
  });

  it('citations of a Gemini answer have positions in bytes', () => {
    expect(candidateOf(whole(everything)).groundingMetadata).toEqual({
      groundingChunks: [{ web: { uri: 'https://e.com', title: 'E' } }],
      groundingSupports: [{ segment: { startIndex: 8, endIndex: 11, text: 'you' }, groundingChunkIndices: [0] }],
    });
  });

  it.each([
    ['stop', 'STOP'],
    ['stop_sequence', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['context_length', 'MAX_TOKENS'],
    ['content_filter', 'SAFETY'],
    ['pause', 'MAX_TOKENS'],
  ] as const)('that ends with %s says %s', (reason, finishReason) => {
    const fragments: Fragment[] = [{ type: 'text', text: 'a' }, { type: 'finish', reason }, { type: 'end' }];
    expect(candidateOf(whole(fragments)).finishReason).toBe(finishReason);
    expect(streamed(fragments).map((chunk) => candidateOf(chunk).finishReason)).toEqual([undefined, finishReason]);
  });

  it('a refusal ends a Gemini answer with its own finish reason', () => {
    expect(candidateOf(whole([{ type: 'refusal', text: 'No.' }, ...done]))).toMatchObject({
      content: { parts: [{ text: 'No.' }] },
      finishReason: 'SAFETY',
    });
  });

  it('a Gemini answer counts thoughts separately from the text', () => {
    expect(whole(everything)['usageMetadata']).toEqual({
      promptTokenCount: 20,
      cachedContentTokenCount: 5,
      candidatesTokenCount: 6,
      thoughtsTokenCount: 3,
      totalTokenCount: 29,
    });
  });

  it('every chunk of a Gemini stream has a usage, and only the last one counts more than the prompt', () => {
    const counted: Fragment = { type: 'usage', usage: { input: 20, output: 6, cacheRead: 5, reasoning: 2 } };
    expect(countsOf([counted, { type: 'text', text: 'Hello' }, ...done])).toEqual([
      { promptTokenCount: 20, candidatesTokenCount: 0, totalTokenCount: 20 },
      {
        promptTokenCount: 20,
        cachedContentTokenCount: 5,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 2,
        totalTokenCount: 26,
      },
    ]);
  });

  it('an estimate of the prompt is not in a Gemini stream before its end', () => {
    expect(countsOf([{ type: 'text', text: 'Hello' }, ...done])).toEqual([
      { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
      { promptTokenCount: 25, candidatesTokenCount: 2, totalTokenCount: 27 },
    ]);
  });

  it('a truncated Gemini stream ends with an error', () => {
    const error = geminiCodec.createEncoder(asking()).encodeFailure(new GatewayError('unavailable', 'no room'));
    expect(error).toMatch(/^data: .*\n\n$/);
    const body = checked(JSON.parse(error.slice('data: '.length)) as JsonObject, isError);
    expect(body).toMatchObject({
      error: { code: 503, message: expect.stringMatching(/ no room$/), status: 'UNAVAILABLE' },
    });
  });
});

const key = fc.integer({ min: 0, max: 2 });
const fragment: fc.Arbitrary<Fragment> = fc.oneof(
  fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const, 'refusal' as const), text: fc.string() }),
  fc.record({
    type: fc.constant('reasoning_state' as const),
    kind: fc.constantFrom('thought' as const, 'signature' as const, 'redacted' as const, 'encrypted' as const),
    data: fc.string({ minLength: 1 }),
  }),
  fc.record({ type: fc.constant('break' as const) }),
  fc.record({
    type: fc.constant('call' as const),
    key,
    id: fc.string({ minLength: 1 }),
    name: fc.constantFrom('a', 'b'),
  }),
  fc.record({ type: fc.constant('input' as const), key, text: fc.constantFrom('{', '"a":1', '}', 'x') }),
  fc.record({ type: fc.constant('call_end' as const), key }),
);

describe('encoding arbitrary replies as Gemini', () => {
  it('a Gemini reply fits the schemas, and is the same whether streamed or whole', () => {
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 12 }), fc.boolean(), (fragments, isShown) => {
        const all: Fragment[] = [...fragments, { type: 'usage', usage: { input: 1, output: 1 } }, ...done];
        const request = isShown ? withThoughts : {};
        expect(fold(streamed(all, request))).toEqual(fold([whole(all, request)]));
      }),
      runs(60),
    );
  });
});

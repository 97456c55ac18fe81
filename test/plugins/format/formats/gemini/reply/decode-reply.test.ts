import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { CompleteReply, Fragment } from '../../../../../../plugins/format/canonical/reply.ts';
import { geminiCodec } from '../../../../../../plugins/format/formats/gemini/codec.ts';
import { TranslatingReader } from '../../../../../../plugins/format/routes/translation/reader.ts';
import { runs } from '../../../../../support/runs.ts';
import { asking, guarded } from '../fixture.ts';

function fragmentsOf(...chunks: JsonValue[]): Fragment[] {
  const decoder = geminiCodec.createDecoder();
  return chunks.flatMap((chunk) => decoder.readEvent(undefined, JSON.stringify(chunk)));
}

function replyTo(...chunks: JsonValue[]): CompleteReply {
  const { guard } = guarded(fragmentsOf(...chunks));
  if (guard.failure !== undefined) throw guard.failure;
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return guard.reply;
}

function wholeReply(body: JsonObject): CompleteReply {
  const { guard } = guarded(geminiCodec.createDecoder().readWhole(body));
  if (guard.failure !== undefined) throw guard.failure;
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return guard.reply;
}

const failureOf = (...chunks: JsonValue[]): GatewayError | undefined => guarded(fragmentsOf(...chunks)).guard.failure;
const says = (parts: JsonValue[], more: JsonObject = {}, envelope: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'gemini-there',
  responseId: 'r1',
  ...envelope,
});
const stop = { finishReason: 'STOP' };
const usageMetadata = {
  promptTokenCount: 20,
  cachedContentTokenCount: 5,
  toolUsePromptTokenCount: 2,
  candidatesTokenCount: 6,
  thoughtsTokenCount: 3,
  totalTokenCount: 31,
};

/** What a client gets of a stream that comes in these pieces. */
function read(...pieces: Buffer[]): string {
  const encoder = geminiCodec.createEncoder(asking());
  const reader = new TranslatingReader(
    { decoder: geminiCodec.createDecoder(), framer: new SseFramer() },
    guarded([]).guard,
    encoder,
  );
  const seen = pieces.map((piece) => reader.push(piece).toString());
  return [...seen, reader.end().toString()].join('');
}

it('the Gemini decoder reads a text whose other members are empty', () => {
  const part = { text: 'Here.', functionCall: { name: '', args: null }, inlineData: { mimeType: '', data: '' } };
  const { guard } = guarded(fragmentsOf(says([{ ...part, executableCode: {} }], stop, { usageMetadata })));
  expect(guard.reply?.blocks).toMatchObject([{ type: 'text', text: 'Here.' }]);
  expect(guard.notes.entries).toEqual([]);
});

it('the Gemini decoder notes each part of an answer that no other format can express', () => {
  const parts = [
    { text: 'Here.' },
    { inlineData: { mimeType: 'image/png', data: 'iVBOR' }, thought: true },
    { inlineData: { mimeType: 'audio/L16', data: 'AAAA' } },
    { fileData: { fileUri: 'gs://there' } },
    { executableCode: { language: 'PYTHON', code: '1+1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
  ];
  const { guard } = guarded(fragmentsOf(says(parts, stop, { usageMetadata })));
  expect(guard.reply?.blocks).toMatchObject([{ type: 'text', text: 'Here.' }]);
  const lost = ['thoughts with images', 'audio', 'files', 'executed code'];
  expect(guard.notes.entries).toEqual(lost.map((what) => `dropped ${what} in the answer`));
});

/** A reply as Google streams it, and the same whole. */
const recorded: readonly JsonObject[] = [
  says([{ text: 'Let me ', thought: true }], {}, { usageMetadata: { promptTokenCount: 20, totalTokenCount: 20 } }),
  says([{ text: 'see.', thought: true }]),
  says([{ text: 'Grüße' }]),
  says([{ text: ' you' }]),
  says([
    { functionCall: { id: 'fc1', name: 'look', args: { at: 'sky' } }, thoughtSignature: 'EqQB' },
    { functionCall: { id: 'fc2', name: 'wait' } },
  ]),
  says([{ text: '', thoughtSignature: 'Zz==' }], stop, { usageMetadata }),
];
const inOne = says(
  [
    { text: 'Let me see.', thought: true },
    { text: 'Grüße you' },
    { functionCall: { id: 'fc1', name: 'look', args: { at: 'sky' } }, thoughtSignature: 'EqQB' },
    { functionCall: { id: 'fc2', name: 'wait' } },
    { text: '', thoughtSignature: 'Zz==' },
  ],
  stop,
  { usageMetadata },
);

describe('decoding a Gemini reply', () => {
  it('a Gemini reply is decoded into reasoning, text and calls in their order', () => {
    expect(replyTo(...recorded)).toMatchObject({
      blocks: [
        { type: 'reasoning', text: 'Let me see.', state: 'dps1n0a1b2c3d.' },
        { type: 'text', text: 'Grüße you' },
        { type: 'reasoning', text: '', state: 'dps1t0a1b2c3d.EqQB' },
        { type: 'tool_call', id: 'fc1', name: 'look', input: '{"at":"sky"}' },
        { type: 'tool_call', id: 'fc2', name: 'wait', input: '{}' },
        { type: 'reasoning', text: '', state: 'dps1t0a1b2c3d.Zz==' },
      ],
      finish: 'tool_calls',
      usage: { input: 22, output: 9, cacheRead: 5, reasoning: 3 },
    });
  });

  it('a Gemini reply is decoded to the same answer whether streamed or whole', () => {
    expect(wholeReply(inOne)).toEqual(replyTo(...recorded));
  });

  it('the signature of a Gemini call becomes the state of the reasoning directly before it', () => {
    const parts = [
      { text: 'Hm.', thought: true },
      { functionCall: { name: 'ls', args: {} }, thoughtSignature: 'EqQB' },
    ];
    expect(replyTo(says(parts, stop)).blocks).toMatchObject([
      { type: 'reasoning', text: 'Hm.', state: 'dps1t0a1b2c3d.EqQB' },
      { type: 'tool_call', id: 'call_x_0' },
    ]);
  });

  it('the signature of a Gemini text is the state of reasoning before it, and no item behind an answer that must be last', () => {
    const whole = replyTo(says([{ text: 'Hello', thoughtSignature: 'Zz==' }], stop)).blocks;
    expect(whole).toMatchObject([
      { type: 'reasoning', text: '' },
      { type: 'text', text: 'Hello' },
    ]);
    const pieces = [says([{ text: 'Hel' }]), says([{ text: 'lo', thoughtSignature: 'Zz==' }], stop)];
    const { guard } = guarded(fragmentsOf(...pieces), { rules: { endsWithAnswer: true } });
    expect(guard.reply?.blocks).toMatchObject([{ type: 'text', text: 'Hello' }]);
    expect(guard.notes.entries).toEqual(['dropped signature at the end of the answer']);
    expect(replyTo(...pieces).blocks).toMatchObject([{ type: 'text' }, { type: 'reasoning', text: '' }]);
  });

  it('a Gemini stream is decoded to the same answer wherever its bytes are cut', () => {
    const bytes = Buffer.from(recorded.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''));
    const expected = read(bytes);
    expect(expected).toContain('Grüße');
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut))).toBe(expected);
    }
    expect(read(...Array.from(bytes, (byte) => Buffer.of(byte)))).toBe(expected);
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['ESCALATION', 'content_filter'],
    ['FUNCTION_CALL', 'stop'],
    ['OTHER', 'stop'],
  ])('the Gemini finish reason %s is decoded as %s', (finishReason, finish) => {
    expect(replyTo(says([{ text: 'a' }], { finishReason })).finish).toBe(finish);
  });

  it('a Gemini answer continues until it has a finish reason', () => {
    for (const finishReason of [null, '', 'FINISH_REASON_UNSPECIFIED']) {
      expect(guarded(fragmentsOf(says([{ text: 'a' }], { finishReason }))).guard.reply).toBe(undefined);
    }
  });

  it('a Gemini answer without visible content reports the reason as a refusal', () => {
    expect(replyTo(says([{ text: 'Hm.', thought: true }]), { candidates: [{ finishReason: 'SAFETY' }] })).toMatchObject(
      {
        blocks: [{ type: 'reasoning' }, { type: 'refusal', text: 'The answer was withheld: SAFETY.' }],
        finish: 'content_filter',
      },
    );
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 4 } };
    const expected = {
      blocks: [{ type: 'refusal', text: 'The prompt was blocked: PROHIBITED_CONTENT.' }],
      finish: 'content_filter',
      usage: { input: 4 },
    };
    expect(replyTo(blocked)).toMatchObject(expected);
    expect(wholeReply(blocked)).toMatchObject(expected);
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])(
    'a Gemini answer with the finish reason %s has failed',
    (finishReason) => {
      const failure = failureOf(says([], { finishReason, finishMessage: 'cal(' }));
      expect(failure).toMatchObject({
        code: 'upstream_failed',
        message: expect.stringContaining(`${finishReason}: cal(`),
      });
    },
  );

  it('a Gemini answer of an account that is limited or disabled has failed by the account', () => {
    const failure = failureOf(says([{ text: 'a' }], { finishReason: 'PUP_LIMITED_DISABLED' }));
    expect(failure).toMatchObject({ code: 'upstream_account_rejected', details: { meaning: 'key' } });
    expect(failure?.message).not.toContain('PUP');
  });

  it('a Gemini error fails the reply, alone or in a list', () => {
    const error = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } };
    for (const chunk of [error, [error]]) {
      expect(failureOf(chunk)).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('overloaded'),
      });
    }
    const long = {
      error: { code: 400, message: 'The input token count (5) exceeds the maximum', status: 'INVALID_ARGUMENT' },
    };
    expect(failureOf(long)?.details.upstream).toMatchObject({ isContextOverflow: true });
    expect(guarded(geminiCodec.createDecoder().readWhole({})).guard.failure).toMatchObject({ code: 'upstream_failed' });
  });

  it('a Gemini reply inside another object is unwrapped', () => {
    expect(replyTo({ response: says([{ text: 'a' }], stop) }).blocks).toMatchObject([{ text: 'a' }]);
  });

  it('arguments of a Gemini call that arrive in pieces are joined', () => {
    const piece = (jsonPath: string, value: JsonObject, willContinue = true) =>
      says([{ functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue } }]);
    const { blocks } = replyTo(
      says([{ functionCall: { name: 'ls', willContinue: true } }]),
      piece('$.path', { stringValue: '/us' }),
      piece('$.path', { stringValue: 'r' }),
      piece('$.depth[0].n', { numberValue: 2 }),
      piece("$['a b']", { boolValue: true }, false),
      says([{ functionCall: { name: 'cat', args: { path: 'x' } } }], stop),
    );
    expect(blocks).toMatchObject([
      { name: 'ls', input: '{"path":"/usr","depth":[{"n":2}],"a b":true}' },
      { name: 'cat', input: '{"path":"x"}' },
    ]);
  });

  it('sources of a Gemini answer become citations', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }, { web: { uri: 'https://b.example' } }],
      groundingSupports: [{ segment: { startIndex: 8, endIndex: 11, text: 'you' }, groundingChunkIndices: [0, 1] }],
    };
    const { blocks } = replyTo(
      says([{ text: 'Grüße you' }]),
      says([{ text: '', thoughtSignature: 'Zz==' }], { ...stop, groundingMetadata }),
    );
    expect(blocks[0]).toMatchObject({
      citations: [
        { url: 'https://a.example', title: 'A', quote: 'you', start: 6, end: 9 },
        { url: 'https://b.example', title: undefined, start: 6, end: 9 },
      ],
    });
  });
});

const anything = fc.jsonValue({ maxDepth: 3 });
const partialArgs = fc.array(
  fc.record({
    jsonPath: fc.oneof(
      fc.constantFrom('$.a', '$.a.length', '$.a[0]', '$[0]', '$.__proto__.x', '$.a[99999999]'),
      fc.string(),
    ),
    stringValue: fc.string(),
  }),
);
const part = fc.record(
  {
    text: fc.oneof(fc.string(), anything),
    thought: fc.oneof(fc.boolean(), anything),
    thoughtSignature: fc.oneof(fc.string(), anything),
    functionCall: fc.oneof(
      fc.record(
        {
          id: anything,
          name: fc.oneof(fc.string(), anything),
          args: anything,
          partialArgs,
          willContinue: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      anything,
    ),
  },
  { requiredKeys: [] },
);
const candidate = fc.record(
  {
    content: fc.oneof(fc.record({ parts: fc.array(part) }), anything),
    finishReason: fc.oneof(fc.constantFrom('STOP', 'SAFETY'), anything),
    groundingMetadata: anything,
    citationMetadata: anything,
  },
  { requiredKeys: [] },
);
const chunk = fc.record(
  {
    candidates: fc.oneof(fc.array(candidate), anything),
    promptFeedback: anything,
    usageMetadata: anything,
    error: anything,
  },
  { requiredKeys: ['candidates'] },
);

describe('decoding arbitrary Gemini replies', () => {
  it('the Gemini decoder never throws, whatever an upstream sends', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, anything), { maxLength: 5 }), (chunks) => {
        const { guard } = guarded(fragmentsOf(...(chunks as JsonValue[])));
        const encoder = geminiCodec.createEncoder(asking());
        if (guard.reply !== undefined) expect(encoder.encodeWhole(guard.reply)).toHaveProperty('usageMetadata');
        const [first] = chunks;
        if (typeof first === 'object' && first !== null && !Array.isArray(first)) {
          geminiCodec.createDecoder().readWhole(first as JsonObject);
        }
      }),
      runs(200),
    );
  });
});

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { mapText } from '#core/gateway/pipeline/map-text.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../../../support/exchange.ts';
import { descriptors } from '../../../support/formats.ts';

type Event = [name: string | undefined, data: object | string];

/** How a format says a text, and where a client finds it again. */
interface Sample {
  whole(text: string): object;
  events(pieces: readonly string[]): Event[];
  /** Every place that says the text of a stream; each says all of it. */
  streamed(events: readonly JsonObject[]): unknown[];
}

const joined = (events: readonly JsonObject[], type: string, pick: (event: never) => string) =>
  events
    .filter((event) => event['type'] === type)
    .map((event) => pick(event as never))
    .join('');

const chatChunk = (delta: object, finish: string | null = null): Event => [
  undefined,
  { choices: [{ index: 0, delta, logprobs: { content: [] }, finish_reason: finish }] },
];
const geminiChunk = (parts: object[], rest: object = {}) => ({
  candidates: [{ index: 0, content: { parts }, ...rest }],
});
const responsesItem = (text: string) => ({ type: 'message', id: 'm', content: [{ type: 'output_text', text }] });
const at = { item_id: 'm', output_index: 0, content_index: 0 };

const samples: Record<'chat' | 'messages' | 'gemini' | 'responses', Sample> = {
  chat: {
    whole: (content) => ({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
    events: (pieces) => [
      chatChunk({ role: 'assistant', content: '' }),
      ...pieces.map((content) => chatChunk({ content })),
      chatChunk({}, 'stop'),
      [undefined, '[DONE]'],
    ],
    streamed: (events) => [
      (events as { choices: { delta: { content?: string } }[] }[])
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ],
  },
  messages: {
    whole: (text) => ({ type: 'message', content: [{ type: 'text', text }], stop_reason: 'end_turn' }),
    events: (pieces) => [
      ['message_start', { type: 'message_start', message: { content: [] } }],
      ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
      ...pieces.map((text): Event => [
        'content_block_delta',
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      ]),
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      ['message_stop', { type: 'message_stop' }],
    ],
    streamed: (events) => [
      joined(events, 'content_block_delta', ({ delta }: { delta: { text: string } }) => delta.text),
    ],
  },
  gemini: {
    whole: (text) => geminiChunk([{ text }], { finishReason: 'STOP' }),
    events: (pieces) => [
      ...pieces.map((text): Event => [undefined, geminiChunk([{ text }])]),
      [undefined, geminiChunk([{ text: '' }], { finishReason: 'STOP' })],
    ],
    streamed: (events) => [
      (events as { candidates: { content: { parts: { text: string }[] } }[] }[])
        .flatMap(({ candidates }) => candidates[0]?.content.parts.map(({ text }) => text) ?? [])
        .join(''),
    ],
  },
  responses: {
    whole: (text) => ({ object: 'response', output: [responsesItem(text)] }),
    events: (pieces) => {
      const text = pieces.join('');
      const part = { type: 'output_text', text };
      const types: object[] = [
        { type: 'response.created', response: { output: [] } },
        ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
        { type: 'response.output_item.done', output_index: 0, item: responsesItem(text) },
        { type: 'response.completed', response: { output: [responsesItem(text)] } },
      ];
      return types.map((data, index): Event => [(data as { type: string }).type, { ...data, sequence_number: index }]);
    },
    streamed: (events) => {
      const last = (type: string) => events.find((event) => event['type'] === type) as never;
      const { text } = last('response.output_text.done') as { text: string };
      const { part } = last('response.content_part.done') as { part: { text: string } };
      const { item } = last('response.output_item.done') as { item: ReturnType<typeof responsesItem> };
      const { response } = last('response.completed') as { response: { output: (typeof item)[] } };
      return [
        joined(events, 'response.output_text.delta', ({ delta }: { delta: string }) => delta),
        text,
        part.text,
        item.content[0]?.text,
        response.output[0]?.content[0]?.text,
      ];
    },
  },
};
const names = Object.keys(samples) as (keyof typeof samples)[];

const exchangeOf = (name: keyof typeof samples): Exchange =>
  createExchange({ endpoint: { ...chatEndpoint, format: descriptors[name] } });
const json = { 'content-type': 'application/json; charset=utf-8' };
const sse = { 'content-type': 'text/event-stream; charset=utf-8' };
const redact = (words: string) => words.replaceAll('Jakarta', '****');

/** Holds all of a text back, to say it loudly. */
const createLoud = () => {
  let held = '';
  return { push: (piece: string) => ((held += piece), ''), end: () => held.toUpperCase() };
};

function streamOf(events: readonly Event[]): Reply {
  const chunks = events.map(([name, data]) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  });
  return { status: 200, headers: sse, body: Readable.from(chunks, { objectMode: false }) };
}

async function read(reply: Reply | Promise<Reply>): Promise<string> {
  const { body } = await reply;
  return body instanceof Readable ? (await body.map(String).toArray()).join('') : String(body);
}

async function readEvents(reply: Reply | Promise<Reply>): Promise<JsonObject[]> {
  const data = (await read(reply)).matchAll(/^data: (\{.*)$/gm);
  return [...data].map(([, text = '']) => JSON.parse(text) as JsonObject);
}

describe.each(names)('the text of a %s answer', (name) => {
  const { whole, events, streamed } = samples[name];
  const text = 'From Jakarta to Jakarta.';
  const mapped = 'From **** to ****.';

  it('is changed in a whole reply', async () => {
    const reply: Reply = { status: 200, headers: json, body: JSON.stringify(whole(text)) };
    expect(JSON.parse(await read(mapText(exchangeOf(name), reply, redact)))).toEqual(whole(mapped));
  });

  it('is changed in a whole reply whose body is a stream, wherever it is cut', async () => {
    const pieces = Buffer.from(JSON.stringify(whole(text))).values();
    const body = Readable.from(
      pieces.map((byte) => Buffer.of(byte)),
      { objectMode: false },
    );
    const got = await read(mapText(exchangeOf(name), { status: 200, headers: json, body }, redact));
    expect(JSON.parse(got)).toEqual(whole(mapped));
  });

  it.each([
    ['word by word', ['From ', 'Jakarta ', 'to ', 'Jakarta.']],
    ['inside its words', ['Fr', 'om Jak', 'ar', 'ta to J', 'akarta', '.']],
    ['character by character', [...text]],
    ['not at all', [text]],
  ])('is changed in a stream that is cut %s, wherever the stream says it', async (_cut, pieces) => {
    const got = streamed(await readEvents(mapText(exchangeOf(name), streamOf(events(pieces)), redact)));
    expect(new Set(got)).toEqual(new Set([mapped]));
  });

  it('is the same in a stream that is mapped to itself', async () => {
    const got = streamed(await readEvents(mapText(exchangeOf(name), streamOf(events([...text])), (words) => words)));
    expect(new Set(got)).toEqual(new Set([text]));
  });

  it('reaches the function in whole words only', async () => {
    const seen: string[] = [];
    const map = (words: string) => {
      seen.push(words);
      return words;
    };
    await read(mapText(exchangeOf(name), streamOf(events([...text])), map));
    expect(seen).toEqual(['From ', 'Jakarta ', 'to ', 'Jakarta.']);
  });

  it('can be held back to the end by a mapper of each answer', async () => {
    const got = streamed(
      await readEvents(mapText(exchangeOf(name), streamOf(events([...text])), { create: createLoud })),
    );
    expect(new Set(got)).toEqual(new Set([text.toUpperCase()]));
  });
});

it('events added to a Responses stream are numbered, and later ones renumbered', async () => {
  const reply = streamOf(samples.responses.events(['Jak', 'arta']));
  const events = await readEvents(mapText(exchangeOf('responses'), reply, redact));
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_event, index) => index));
});

it('log probabilities of changed words are taken out', async () => {
  const text = await read(mapText(exchangeOf('chat'), streamOf(samples.chat.events(['Jakarta ', 'here'])), redact));
  expect(text).toContain('"content":"**** "},"logprobs":null');
});

it('a Gemini answer that is streamed as an array stays one', async () => {
  const entries = samples.gemini.events(['From Jak', 'arta.']).map(([, data]) => JSON.stringify(data));
  const body = Readable.from([`[${entries[0]}`, `,\r\n${entries[1]},\r\n`, `${entries[2]}`, ']'], {
    objectMode: false,
  });
  const got = await read(mapText(exchangeOf('gemini'), { status: 200, headers: json, body }, redact));
  expect(samples.gemini.streamed(JSON.parse(got) as JsonObject[])).toEqual(['From ****.']);
});

it('a Gemini answer that is streamed as an array may be cut inside a character', async () => {
  const entries = samples.gemini.events(['Grüße, ', 'Jakarta 😀']).map(([, data]) => JSON.stringify(data));
  const pieces = Buffer.from(`[${entries.join(',\r\n')}]`).values();
  const body = Readable.from(
    pieces.map((byte) => Buffer.of(byte)),
    { objectMode: false },
  );
  const got = await read(mapText(exchangeOf('gemini'), { status: 200, headers: json, body }, redact));
  expect(samples.gemini.streamed(JSON.parse(got) as JsonObject[])).toEqual(['Grüße, **** 😀']);
});

it('a text comes before a tool call that followed it', async () => {
  const events: Event[] = [
    [undefined, geminiChunk([{ text: 'See Jakarta' }])],
    [undefined, geminiChunk([{ functionCall: { name: 'look', args: {} } }], { finishReason: 'STOP' })],
  ];
  const got = await read(mapText(exchangeOf('gemini'), streamOf(events), redact));
  expect(got).toContain('"parts":[{"text":"****"},{"functionCall"');
});

it('numbers that a double cannot hold stay exact', async () => {
  const body = '{"content":[{"type":"text","text":"Jakarta"},{"type":"tool_use","input":{"id":12345678901234567890}}]}';
  const got = await read(mapText(exchangeOf('messages'), { status: 200, headers: json, body }, redact));
  expect(got).toBe(body.replace('Jakarta', '****'));
});

it('words without spaces do not wait for long', async () => {
  const pieces = Array.from({ length: 10 }, () => '東京タワー'.repeat(4));
  const events = await readEvents(mapText(exchangeOf('chat'), streamOf(samples.chat.events(pieces)), (words) => words));
  const filled = (events as { choices: { delta: { content?: string } }[] }[]).filter(
    ({ choices }) => (choices[0]?.delta.content ?? '') !== '',
  );
  expect(filled.length).toBeGreaterThan(2);
});

it.each<[string, Exchange, Reply]>([
  ['an error', exchangeOf('chat'), { status: 400, headers: json, body: '{"error":{"message":"Jakarta"}}' }],
  ['a list of models', createExchange({ endpoint: modelsEndpoint }), { status: 200, headers: json, body: '{}' }],
  ['an answer without a body', exchangeOf('chat'), { status: 204, headers: {}, body: null }],
  [
    'an answer in another type',
    exchangeOf('chat'),
    { status: 200, headers: { 'content-type': 'image/png' }, body: 'x' },
  ],
])('%s is not touched', (_name, exchange, reply) => {
  expect(mapText(exchange, reply, redact)).toBe(reply);
});

it('an event stream that came whole, from the cache say, is mapped too', async () => {
  const body = await read(streamOf(samples.chat.events(['Jak', 'arta'])));
  const events = await readEvents(mapText(exchangeOf('chat'), { status: 200, headers: sse, body }, redact));
  expect(samples.chat.streamed(events)).toEqual(['****']);
});

it('a stream that breaks off says what was complete, then the error', async () => {
  const chunks = (async function* () {
    yield Buffer.from(`data: ${JSON.stringify(chatChunk({ content: 'From Jakarta to' })[1])}\n\n`);
    throw new Error('cut');
  })();
  const reply = await mapText(
    exchangeOf('chat'),
    { status: 200, headers: sse, body: Readable.from(chunks, { objectMode: false, highWaterMark: 1 }) },
    redact,
  );
  const got: string[] = [];
  (reply.body as Readable).on('data', (chunk: Buffer) => got.push(String(chunk)));
  await expect((reply.body as Readable).on('end', () => undefined).toArray()).rejects.toThrow('cut');
  expect(got.join('')).toContain('From **** ');
});

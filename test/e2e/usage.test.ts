import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

const formats = ['chat', 'messages', 'responses', 'gemini'] as const;
type Format = (typeof formats)[number];

let upstream: FaultyUpstream;
let gateway: TestGateway;
/** What the upstream does with the request whose prompt contains this mark: tests run concurrently. */
const handlers = new Map<string, Handler>();
let marks = 0;
beforeAll(async () => {
  upstream = await createUpstream((request, response) =>
    handlers.get(/mark \d+/.exec(request.body.toString())?.[0] ?? '')?.(request, response),
  );
  const upstreams = formats.map((format) => `${format}: { format: ${format}, base_url: "${upstream.url}/v1" }`);
  const models = formats.map((format) => `${format}: { routes: [${format}/model-there] }`);
  const yaml = `${wholePipeline}\nupstreams: { ${upstreams.join()} }\nmodels: { ${models.join()} }\n`;
  gateway = await startGateway({ yaml });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

interface Row {
  readonly outcome: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly usage_estimated: boolean | null;
  readonly notes: string[] | null;
  readonly attempts: { route: string; format: string; outcome: string }[];
}

async function recordOf(response: Response): Promise<Row> {
  const id = response.headers.get('x-request-id');
  return vi.waitFor(
    async () => {
      const [row] = await gateway.database.query<Row>('SELECT * FROM request_log WHERE id = ?', [id]);
      if (row === undefined) throw new Error('not yet on record');
      return row;
    },
    { timeout: 15_000, interval: 50 },
  );
}

const prompt = 'Say it, say it, and say it again. '.repeat(10);
const said = 'As I have said before, and before that. '.repeat(10);

/** The body of a request, and its path. */
const requests: Record<Format, (content: string) => { path: string; body: object }> = {
  chat: (content) => ({ path: '/v1/chat/completions', body: { messages: [{ role: 'user', content }] } }),
  messages: (content) => ({ path: '/v1/messages', body: { max_tokens: 500, messages: [{ role: 'user', content }] } }),
  responses: (input) => ({ path: '/v1/responses', body: { input } }),
  gemini: (text) => ({ path: '/v1beta/models', body: { contents: [{ role: 'user', parts: [{ text }] }] } }),
};

interface More {
  readonly stream?: boolean;
  readonly [member: string]: unknown;
}

function ask(format: Format, to: string, handler: Handler, { stream = false, ...more }: More = {}): Promise<Response> {
  const mark = `mark ${++marks}`;
  handlers.set(mark, handler);
  const { path, body } = requests[format](`${prompt}${mark}`);
  // Gemini has model and streaming in the path.
  const isGemini = format === 'gemini';
  const method = `/${to}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
  return fetch(gateway.url + path + (isGemini ? method : ''), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...(!isGemini && { model: to, stream }), ...body, ...more }),
  });
}

const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: said }] };

function parted(parts: object[], finishReason?: string): object {
  const content = { role: 'model', parts };
  return { candidates: [{ content, index: 0, ...(finishReason !== undefined && { finishReason }) }] };
}
const candidate = (text: string, finishReason?: string): object => parted([{ text }], finishReason);

/** Whole replies of upstreams that count nothing. */
const whole: Record<Format, object> = {
  chat: { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }] },
  messages: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: said }],
    stop_reason: 'end_turn',
  },
  responses: { id: 'r', object: 'response', status: 'completed', output: [item], usage: null },
  gemini: candidate(said, 'STOP'),
};

const pieces = said.match(/.{1,20}/g) ?? [];
const textDelta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

/** Streams of upstreams that count nothing, up to the last content. */
const streamed: Record<Format, { readonly words: object[]; readonly end: (object | string)[] }> = {
  chat: {
    words: pieces.map((content) => ({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    end: [{ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, '[DONE]'],
  },
  messages: {
    words: [
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...pieces.map(textDelta),
    ],
    end: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ],
  },
  responses: {
    words: pieces.map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta })),
    end: [{ type: 'response.completed', response: { id: 'r', status: 'completed', output: [item], usage: null } }],
  },
  gemini: { words: pieces.map((text) => candidate(text)), end: [candidate('', 'STOP')] },
};

/** The counts that a client of a format reads: the last occurrence of each. */
function countsIn(text: string): { input: number | undefined; output: number | undefined } {
  const last = (names: string) => {
    const found = [...text.matchAll(new RegExp(`"(?:${names})":(\\d+)`, 'g'))].at(-1)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  return {
    input: last('prompt_tokens|input_tokens|promptTokenCount'),
    output: last('completion_tokens|output_tokens|candidatesTokenCount'),
  };
}

/** An estimate within 25 %. */
function about(tokens: number | null | undefined, text: string): boolean {
  const expected = text.length / 4;
  return typeof tokens === 'number' && Math.abs(tokens - expected) < expected / 4;
}

const ways = formats.flatMap((client) => formats.map((route) => [client, route] as const));

describe.concurrent('an upstream that reports no usage', () => {
  it.each(ways)(
    'a whole reply for %s from %s has counts, and the record marks them as estimates',
    async (client, to) => {
      const response = await ask(client, to, (_request, reply) => reply.json(200, whole[to]));
      const counts = countsIn(await response.text());
      expect([response.status, about(counts.input, prompt), about(counts.output, said)]).toEqual([200, true, true]);
      const { input_tokens: input, output_tokens: output, usage_estimated: isEstimated } = await recordOf(response);
      expect({ input, output, isEstimated }).toEqual({ ...counts, isEstimated: true });
    },
  );

  it.each(ways)('a stream for %s from %s has counts, and the record marks them as estimates', async (client, to) => {
    const handler: Handler = (_request, reply) => {
      const { words, end } = streamed[to];
      reply.sse(...words, ...end);
      reply.end();
    };
    const response = await ask(client, to, handler, {
      stream: true,
      ...(client === 'chat' && { stream_options: { include_usage: true } }),
    });
    const text = await response.text();
    const counts = countsIn(text);
    expect([about(counts.input, prompt), about(counts.output, said)], text).toEqual([true, true]);
    const { input_tokens: input, output_tokens: output, usage_estimated: isEstimated } = await recordOf(response);
    expect({ input, output, isEstimated }).toEqual({ ...counts, isEstimated: true });
  });

  it.each(ways)('a broken stream for %s from %s is recorded with the counts of what arrived', async (client, to) => {
    const hasBegun = Promise.withResolvers<void>();
    const handler: Handler = async (_request, reply) => {
      reply.sse(...streamed[to].words);
      await hasBegun.promise;
      reply.cut();
    };
    const response = await ask(client, to, handler, { stream: true });
    const { isWhole } = await readBody(response, () => hasBegun.resolve());
    expect(isWhole).toBe(false);
    const row = await recordOf(response);
    expect(row).toMatchObject({ outcome: 'failed', usage_estimated: true });
    expect([about(row.input_tokens, prompt), about(row.output_tokens, said)]).toEqual([true, true]);
  });
});

it.concurrent('a stream that its upstream never closes still has the requested counts', async () => {
  const { words, end } = streamed.chat;
  const more = { stream: true, stream_options: { include_usage: true } };
  const response = await ask('chat', 'chat', (_request, reply) => reply.sse(...words, end[0]), more);
  const counts = countsIn(await response.text());
  expect([about(counts.input, prompt), about(counts.output, said)]).toEqual([true, true]);
});

it.concurrent('the counts of an upstream are recorded unchanged', async () => {
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
  const response = await ask('chat', 'chat', (_request, reply) => reply.json(200, { ...whole.chat, usage }));
  expect(await response.json()).toMatchObject({ usage });
  expect(await recordOf(response)).toMatchObject({ input_tokens: 11, output_tokens: 3, usage_estimated: false });
});

it.concurrent('a parameter that a route cannot express is noted in header and record, with the format of the route', async () => {
  const more = { logit_bias: { 5: 1 }, seed: 5 };
  const response = await ask('chat', 'messages', (_request, reply) => reply.json(200, whole.messages), more);
  const header = response.headers.get('x-daypass-notes');
  expect(header).toContain('logit_bias');
  const { notes, attempts } = await recordOf(response);
  expect(notes?.join('; ')).toBe(header);
  expect(attempts).toMatchObject([{ route: 'messages/model-there', format: 'messages', outcome: 'served' }]);
});

describe.concurrent('content that the client’s format cannot express', () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'iVBOR' } };
  const code = { executableCode: { language: 'PYTHON', code: '1+1' } };
  it.each([
    ['chat', []],
    ['messages', ['approximated images in the answer as text']],
    ['responses', []],
  ] as const)('is noted in header and record for %s', async (client, ofImages) => {
    const body = parted([{ text: said }, picture, code], 'STOP');
    const response = await ask(client, 'gemini', (_request, reply) => reply.json(200, body));
    const header = response.headers.get('x-daypass-notes');
    expect(header?.split('; ')).toEqual(expect.arrayContaining([...ofImages, 'dropped executed code in the answer']));
    expect((await recordOf(response)).notes?.toSorted()).toEqual(header?.split('; ').toSorted());
  });

  it('is noted in the record when it arrives after the headers of a stream', async () => {
    const begun = Promise.withResolvers<void>();
    const handler: Handler = async (_request, reply) => {
      reply.sse(candidate(said));
      await begun.promise;
      await reply.event(parted([code], 'STOP'));
      reply.end();
    };
    const response = await ask('chat', 'gemini', handler, { stream: true });
    begun.resolve();
    await response.text();
    expect((await recordOf(response)).notes).toContain('dropped executed code in the answer');
  });

  it('reaches a client of the same format', async () => {
    const body = parted([{ text: said }, picture, code], 'STOP');
    const response = await ask('gemini', 'gemini', (_request, reply) => reply.json(200, body));
    expect(await response.json()).toMatchObject(body);
    expect([response.headers.get('x-daypass-notes'), (await recordOf(response)).notes]).toEqual([null, null]);
  });
});

it.concurrent('a refused request is recorded without notes and counts', async () => {
  const response = await ask('chat', 'nothing', () => undefined);
  expect(await recordOf(response)).toMatchObject({ notes: null, usage_estimated: null, input_tokens: null });
});

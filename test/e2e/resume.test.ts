import { type IncomingMessage, request } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { type ChaosFormat, chaosFormats, pathOf, readAsked, writeWords } from '../chaos/answers.ts';
import {
  createUpstream,
  type FaultyUpstream,
  type RecordedRequest,
  type ScriptedResponse,
} from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const before = ['The quick ', 'brown fox ', 'jumps over '];
const after = ['the lazy ', 'dog.'];
const whole = 'The quick brown fox jumps over the lazy dog.';

/** How a route behaves, by its model name. */
type Script = (response: ScriptedResponse, format: ChaosFormat) => Promise<void>;

async function write(response: ScriptedResponse, events: readonly { name?: string; data: object | string }[]) {
  for (const { name, data } of events) await response.event(data, name);
}

const answering =
  (words: readonly string[], end: (response: ScriptedResponse) => void = (response) => response.end()): Script =>
  async (response, format) => {
    const { opening, words: said, closing } = writeWords(format, 'a1', words);
    response.sse();
    await write(response, [...opening, ...said, ...closing]);
    end(response);
  };

const breaking =
  (words: readonly string[], fault: Script = async (response) => response.cut()): Script =>
  async (response, format) => {
    const { opening, words: said } = writeWords(format, 'a1', words);
    response.sse();
    await write(response, [...opening, ...said]);
    await response.passedOn();
    await fault(response, format);
  };

const toolCall = {
  choices: [
    { index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'look', arguments: '{"a' } }] } },
  ],
};

const scripts: Readonly<Record<string, Script>> = {
  cut: breaking(before),
  reports: breaking(before, async (response, format) => {
    await write(response, [writeWords(format, 'a1', []).failure]);
    response.end();
  }),
  thinks: async (response) => {
    response.sse({ choices: [{ index: 0, delta: { reasoning_content: 'Let me see' } }] });
    await response.passedOn();
    response.cut();
  },
  calls: breaking(before, async (response) => {
    await response.event(toolCall);
    response.cut();
  }),
  rest: answering(after),
  repeats: answering(['jumps ov', 'er the lazy ', 'dog.']),
  silent: async () => undefined,
  refuses: async (response) => response.json(500, { error: { message: 'no' } }),
  'cut-again': breaking(['the lazy ']),
};

const upstreams = chaosFormats.map((format) => `  ${format}: { format: ${format}, base_url: URL }`).join('\n');
const pairs = chaosFormats.flatMap((first) => chaosFormats.map((second) => [first, second] as const));
const models = [
  ...pairs.map(([first, second]) => `  ${first}-${second}: { routes: [${first}/cut, ${second}/rest], resume: true }`),
  '  plain: { routes: [chat/cut, messages/rest] }',
  '  reported: { routes: [chat/reports, chat/rest], resume: true }',
  '  repeated: { routes: [chat/cut, chat/repeats], resume: true }',
  '  called: { routes: [chat/calls, chat/rest], resume: true }',
  '  thought: { routes: [chat/thinks, chat/rest], resume: true }',
  '  refused: { routes: [chat/cut, chat/refuses], resume: true }',
  '  skipped: { routes: [chat/cut, chat/refuses, messages/rest], resume: true }',
  '  twice: { routes: [chat/cut, chat/cut-again], resume: true }',
  '  thrice: { routes: [chat/cut, chat/cut-again, messages/dog], resume: true }',
  '  left: { routes: [chat/cut, chat/silent], resume: true }',
  '  searching: { routes: [{ to: responses/cut, quirks: { hosted_search: true } }, chat/rest], resume: true }',
  '  prefilled: { routes: [chat/cut, { to: messages/rest, quirks: { prefill: true } }], resume: true }',
].join('\n');
const stage = '{ retry_share: 1, breaker: { failures: 1000, failure_ratio: 1, minimum_calls: 100000 } }';

let upstream: FaultyUpstream;
let gateway: TestGateway;
/** Of an account of the test's own: a route that has broken off comes last for it. */
let key: string;
beforeEach(async () => {
  ({ key } = await createAccount(gateway.database, 'dp', { name: 'Ani', period: { days: 1, reason: 'grant' } }));
});
beforeAll(async () => {
  upstream = await createUpstream(async (recorded, response) => {
    const { format, model } = readAsked(recorded);
    await (model === 'dog' ? answering(['dog.']) : (scripts[model] as Script))(response, format);
  });
  gateway = await startGateway({
    yaml: `
pipeline: [auth, plan, { rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 1000 } }, cache, format, { upstream: ${stage} }, log]
upstreams:
${upstreams.replaceAll('URL', `"${upstream.url}/v1"`)}
models:
${models}
`,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

interface Answered {
  readonly id: string;
  readonly text: string;
  readonly events: readonly { readonly name: string | undefined; readonly data: Json }[];
  readonly trailers: NodeJS.Dict<string>;
  readonly announced: string | undefined;
  readonly isWhole: boolean;
}
// Replies are read as a client would, without checking their types.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

const asks = [{ role: 'user' as const, content: 'Say it.' }];
const questions: Readonly<Record<ChaosFormat, (model: string) => object>> = {
  chat: (model) => ({ model, stream: true, messages: asks, stream_options: { include_usage: true } }),
  responses: (model) => ({ model, stream: true, input: 'Say it.' }),
  messages: (model) => ({ model, stream: true, messages: asks, max_tokens: 1000 }),
  gemini: () => ({ contents: [{ role: 'user', parts: [{ text: 'Say it.' }] }] }),
};

function send(format: ChaosFormat, model: string, more: object = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const path = pathOf({ format, model, isStream: true });
  const sent = request(`${gateway.url}${path}`, { method: 'POST', headers });
  sent.end(JSON.stringify({ ...questions[format](model), ...more }));
  return sent;
}

async function ask(format: ChaosFormat, model: string, more: object = {}): Promise<Answered> {
  const sent = send(format, model, more);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  // A broken answer has no end: its connection closes.
  response.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => response.once('close', resolve));
  const blocks = Buffer.concat(chunks).toString().split('\n\n');
  const events = blocks
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const [, name] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
      return { name, data: data === '[DONE]' ? data : (JSON.parse(data) as Json) };
    });
  return {
    id: String(response.headers['x-request-id']),
    text: events.map(({ data }) => textOf(format, data)).join(''),
    events,
    trailers: response.trailers,
    announced: response.headers['trailer'],
    isWhole: response.complete,
  };
}

function textOf(format: ChaosFormat, data: Json): string {
  if (format === 'chat') return data.choices?.[0]?.delta?.content ?? '';
  if (format === 'messages') return data.delta?.text ?? '';
  if (format === 'gemini') return data.candidates?.[0]?.content?.parts?.[0]?.text ?? '';
  return data.type === 'response.output_text.delta' ? data.delta : '';
}

interface Row {
  readonly outcome: string;
  readonly route: string;
  readonly notes: readonly string[] | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly usage_estimated: boolean | null;
  readonly attempts: readonly { readonly route: string; readonly outcome: string; readonly error?: string }[];
}

async function recordOf(id: string): Promise<Row> {
  return vi.waitFor(
    async () => {
      const rows = await gateway.database.query<Row>('SELECT * FROM request_log WHERE id = ?', [id]);
      expect(rows).toHaveLength(1);
      return rows[0] as Row;
    },
    { timeout: 20_000, interval: 50 },
  );
}

const attemptsOf = ({ attempts }: Row) => attempts.map(({ route, outcome }) => `${route} ${outcome}`);
const lastRequest = () => upstream.requests.at(-1) as RecordedRequest;
const note = 'resumed on another route after the first was interrupted';

describe.each(pairs)('an answer that a %s route begins and a %s route ends', (first, second) => {
  const model = `${first}-${second}`;

  it('is one answer for a Chat client', async () => {
    const { text, events, trailers } = await ask('chat', model);
    expect(text).toBe(whole);
    const chunks = events.slice(0, -1).map(({ data }) => data);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.filter(({ choices }) => choices[0]?.delta.role !== undefined)).toHaveLength(1);
    expect(chunks.filter(({ choices }) => choices[0]?.finish_reason === 'stop')).toHaveLength(1);
    expect(chunks.filter(({ usage }) => typeof usage?.completion_tokens === 'number')).toHaveLength(1);
    expect(events.filter(({ data }) => data === '[DONE]')).toHaveLength(1);
    expect(trailers['x-daypass-notes']).toContain(note);
  });

  it('is one answer for a Responses client', async () => {
    const { text, events } = await ask('responses', model);
    expect(text).toBe(whole);
    expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_event, index) => index));
    const types = events.map(({ data }) => data.type);
    for (const once of ['response.created', 'response.output_item.added', 'response.output_item.done']) {
      expect(types.filter((type) => type === once)).toEqual([once]);
    }
    expect(types.at(-1)).toBe('response.completed');
    const response = events.at(-1)?.data.response;
    expect(response.output).toHaveLength(1);
    expect(response.output[0].content[0].text).toBe(whole);
    expect(response.id).toBe(events[0]?.data.response.id);
  });

  it('is one answer for a Messages client', async () => {
    const { text, events } = await ask('messages', model);
    expect(text).toBe(whole);
    expect(events.filter(({ name }) => name !== 'content_block_delta').map(({ name }) => name)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(new Set(events.flatMap(({ data }) => data.index ?? []))).toEqual(new Set([0]));
  });

  it('is one answer for a Gemini client', async () => {
    const { text, events } = await ask('gemini', model);
    expect(text).toBe(whole);
    const chunks = events.map(({ data }) => data);
    expect(new Set(chunks.map(({ responseId }) => responseId)).size).toBe(1);
    expect(chunks.flatMap(({ candidates }) => candidates[0].finishReason ?? [])).toEqual(['STOP']);
    const last = chunks.at(-1);
    expect(last.candidates[0].finishReason).toBe('STOP');
    // Counts of both routes: the beginning is estimated, and the continuation adds to it.
    expect(last.usageMetadata.candidatesTokenCount).toBeGreaterThan(Math.ceil(before.join('').length / 4));
  });
});

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });

describe('official SDKs get one answer from', () => {
  it('openai, Chat Completions', async () => {
    const stream = openai().chat.completions.stream({ model: 'messages-responses', messages: asks });
    expect(await stream.finalContent()).toBe(whole);
  });

  it('openai, Responses', async () => {
    const stream = openai().responses.stream({ model: 'chat-messages', input: 'Say it.' });
    expect((await stream.finalResponse()).output_text).toBe(whole);
  });

  it('@anthropic-ai/sdk', async () => {
    const anthropic = new Anthropic({ baseURL: gateway.url, authToken: key, apiKey: null, maxRetries: 0 });
    const stream = anthropic.messages.stream({ model: 'responses-chat', max_tokens: 100, messages: asks });
    expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: whole }]);
  });
});

describe('a resumed answer', () => {
  it('is recorded with both attempts, a note, and the tokens of both', async () => {
    const { id } = await ask('chat', 'chat-messages');
    const record = await recordOf(id);
    expect(record).toMatchObject({ outcome: 'answered', route: 'messages/rest', usage_estimated: true });
    expect(attemptsOf(record)).toEqual(['chat/cut failed', 'messages/rest served']);
    expect(record.notes).toContain(note);
    // The route of the continuation counted 3 in, 2 out. The beginning is estimated: 31 characters.
    expect(record.output_tokens).toBe(Math.ceil(before.join('').length / 4) + 2);
    expect(record.input_tokens).toBeGreaterThan(3);
  });

  it('has its note in an announced trailer', async () => {
    const { trailers, announced } = await ask('chat', 'chat-chat');
    expect([announced, trailers['x-daypass-notes']]).toEqual(['x-daypass-notes', note]);
  });

  it('asks the second route to continue after the sent text', async () => {
    await ask('chat', 'chat-chat');
    const { messages } = lastRequest().json<{ messages: { role: string; content: string }[] }>();
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(messages[1]?.content).toBe(before.join(''));
  });

  it('is requested with the text alone where the model continues an assistant message', async () => {
    expect((await ask('chat', 'prefilled')).text).toBe(whole);
    const { messages } = lastRequest().json<{ messages: { role: string; content: { text: string }[] }[] }>();
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(messages[1]?.content[0]?.text).toBe(before.join('').trimEnd());
  });

  it('follows an error inside the stream', async () => {
    const { text, events } = await ask('chat', 'reported');
    expect(text).toBe(whole);
    expect(JSON.stringify(events)).not.toContain('error');
  });

  it('drops what the second route repeats', async () => {
    expect((await ask('chat', 'repeated')).text).toBe(whole);
  });

  it('has no search in it that its client offers, as Codex does, and no route runs', async () => {
    const tools = [{ type: 'function', name: 'read', parameters: { type: 'object' } }, { type: 'web_search' }];
    const { text, trailers } = await ask('responses', 'responses-chat', { tools });
    expect([text, trailers['x-daypass-notes']]).toEqual([whole, expect.stringContaining(note)]);
  });

  it('continues on the third route when the second fails before any content', async () => {
    const { id, text } = await ask('chat', 'skipped');
    expect(text).toBe(whole);
    expect(attemptsOf(await recordOf(id))).toEqual(['chat/cut failed', 'chat/refuses failed', 'messages/rest served']);
  });

  it('continues on the third route when the second breaks off as well', async () => {
    const { id, text, trailers } = await ask('chat', 'thrice');
    expect(text).toBe(whole);
    expect(trailers['x-daypass-notes']).toBe(note);
    expect(attemptsOf(await recordOf(id))).toEqual(['chat/cut failed', 'chat/cut-again failed', 'messages/dog served']);
  });
});

const ends = async (model: string, text: string, attempts: string[], more: object = {}): Promise<Row> => {
  const answered = await ask('chat', model, more);
  expect(answered.text).toBe(text);
  expect(answered.events.filter(({ data }) => typeof data.error?.message === 'string')).toHaveLength(1);
  expect(answered.isWhole).toBe(false);
  const record = await recordOf(answered.id);
  expect(record.outcome).toBe('failed');
  expect(attemptsOf(record)).toEqual(attempts);
  return record;
};
describe('a broken answer ends with an error', () => {
  const sent = before.join('');

  it('when the model does not have `resume`', () => ends('plain', sent, ['chat/cut failed']));

  it('when it breaks inside a tool call', () => ends('called', sent, ['chat/calls failed']));

  it('when it breaks inside reasoning', () => ends('thought', '', ['chat/thinks failed']));

  it('when a search was offered that one of the routes runs', async () => {
    const { id, text } = await ask('responses', 'searching', { tools: [{ type: 'web_search' }] });
    expect(text).toBe(sent);
    expect(attemptsOf(await recordOf(id))).toEqual(['responses/cut failed']);
  });

  it('when structured output was requested', () =>
    ends('chat-messages', sent, ['chat/cut failed'], { response_format: { type: 'json_object' } }));

  it('when log probabilities were requested', () =>
    ends('chat-messages', sent, ['chat/cut failed'], { logprobs: true }));

  it.each([{ responseLogprobs: true }, { responseModalities: ['TEXT', 'IMAGE'] }])(
    'when %j was requested in the format of Gemini',
    async (generationConfig) => {
      const { id, text } = await ask('gemini', 'gemini-gemini', { generationConfig });
      expect(text).toBe(sent);
      expect(attemptsOf(await recordOf(id))).toEqual(['gemini/cut failed']);
    },
  );

  it('when the second route refuses, recorded as served by the first', async () => {
    const { route } = await ends('refused', sent, ['chat/cut failed', 'chat/refuses failed']);
    expect(route).toBe('chat/cut');
  });

  it('when the second route breaks off too', () =>
    ends('twice', `${sent}the lazy `, ['chat/cut failed', 'chat/cut-again failed']));
});

it('a client that leaves while the second route is asked closes the connection to it', async () => {
  const count = upstream.requests.length;
  const sent = send('chat', 'left');
  sent.on('error', () => undefined);
  const response = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  response.on('error', () => undefined).resume();
  await upstream.waitForRequest(count + 2);
  sent.destroy();
  expect(await upstream.waitForClose(count + 2)).toBe('client left');
  const record = await recordOf(String(response.headers['x-request-id']));
  expect(record.outcome).toBe('aborted');
  expect(attemptsOf(record)).toEqual(['chat/cut failed', 'chat/silent aborted']);
});

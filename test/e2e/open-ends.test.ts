import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { answers } from '../plugins/upstream/streams-fixture.ts';
import {
  createUpstream,
  type FaultyUpstream,
  type RecordedRequest,
  type ScriptedResponse,
} from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

type Play = (response: ScriptedResponse, format: TextFormat) => void | Promise<void>;

/** What the upstream sends; it closes the connection only if the script does. */
let play: Play;
/** The same for requests of concurrent tests, by a word of their prompt. */
const plays = new Map<string, (request: RecordedRequest, response: ScriptedResponse) => void | Promise<void>>();
let upstream: FaultyUpstream;
let gateway: TestGateway;

const formatOf = (path: string) => textFormats.find((format) => path.startsWith(`/${format}/`)) as TextFormat;

beforeAll(async () => {
  upstream = await createUpstream((request, response) => {
    const word = /own-\d+-/.exec(request.body.toString())?.[0] ?? '';
    const own = plays.get(word);
    return own === undefined ? play(response, formatOf(request.path)) : own(request, response);
  });
  gateway = await startGateway({
    yaml: `
pipeline:
  - auth
  - cache
  - format
  - upstream: { idle_timeout: 600, retry_share: 1, breaker: { failures: 1000, minimum_calls: 100000 } }
  - log
upstreams:
${textFormats.map((format) => `  ${format}: { format: ${format}, base_url: "${upstream.url}/${format}" }`).join('\n')}
models:
${textFormats.map((format) => `  ${format}: { routes: [${format}/m] }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  play = () => undefined;
});

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly id: string;
}

async function ask(
  format: TextFormat,
  model: string,
  isStream = true,
  members: object = {},
  prompt = 'hi',
): Promise<Answered> {
  const messages = [{ role: 'user', content: prompt }];
  const asks = {
    chat: ['/v1/chat/completions', { model, messages, stream: isStream, ...members }],
    messages: ['/v1/messages', { model, messages, max_tokens: 9, stream: isStream, ...members }],
    responses: ['/v1/responses', { model, input: prompt, stream: isStream, store: false, ...members }],
    gemini: [
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: prompt }] }], ...members },
    ],
  } as const;
  const [path, body] = asks[format];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { text } = await readBody(answer);
  return { status: answer.status, text, id: answer.headers.get('x-request-id') ?? '' };
}

/** Asks with a script of its own, beside other tests. @returns also the request that reached the upstream */
async function askWith(own: Play, format: TextFormat, model: string, isStream = true) {
  const word = `own-${plays.size}-`;
  const sent = Promise.withResolvers<RecordedRequest>();
  plays.set(word, (request, response) => {
    sent.resolve(request);
    return own(response, formatOf(request.path));
  });
  const answer = await ask(format, model, isStream, {}, word);
  return { ...answer, request: await sent.promise };
}

/** The last event of a complete stream in each format. */
const endings: Readonly<Record<TextFormat, RegExp>> = {
  chat: /"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/,
  messages: /"stop_reason":"end_turn"[^]*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
  responses: /event: response\.completed\ndata: \{[^\n]*"status":"completed"[^\n]*\}\n\n$/,
  gemini: /"finishReason":"STOP"[^\n]*\}\n\n$/,
};
/** How many of the last events an upstream can leave out of a finished stream. */
const dispensable: Readonly<Record<TextFormat, number>> = { chat: 1, messages: 1, responses: 0, gemini: 0 };

const pairs = textFormats.flatMap((client) => textFormats.map((model) => [client, model] as const));

describe.concurrent.each(pairs)('a %s client of a %s upstream', (client, model) => {
  const { opening, content, closing } = answers[model];
  const finished = closing.slice(0, closing.length - dispensable[model]);

  it.each([
    ['without its end mark', finished],
    ['with it', closing],
  ])('gets a complete answer when a finished stream %s stays open', async (_name, events) => {
    const { text, request } = await askWith(sendAndStay(...opening, ...content, ...events), client, model);
    expect(text).toMatch(endings[client]);
    expect(text).not.toContain('"error":{');
    expect(await request.closed).toBe('client left');
  });

  it('gets a complete answer when a finished stream is reset', async () => {
    const { text } = await askWith(sendAndCut(...opening, ...content, ...finished), client, model);
    expect(text).toMatch(endings[client]);
    expect(text).not.toContain('"error":{');
  });
});

const eventOf = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  eventOf({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const counts = eventOf({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage });

/** Sends events and leaves the stream open. */
const sendAndStay =
  (...events: string[]) =>
  (response: ScriptedResponse) => {
    response.head(200, { 'content-type': 'text/event-stream' });
    void response.write(events.join(''));
  };

/** Sends events and resets the connection. */
const sendAndCut =
  (...events: string[]) =>
  async (response: ScriptedResponse) => {
    response.head(200, { 'content-type': 'text/event-stream' });
    await response.write(events.join(''));
    response.cut();
  };

interface Row {
  readonly outcome: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly usage_estimated: boolean;
  readonly attempts: { outcome: string }[];
}

async function recordOf(id: string): Promise<Row> {
  return vi.waitFor(
    async () => {
      const [row] = await gateway.database.query<Row>('SELECT * FROM request_log WHERE id = ?', [id]);
      if (row === undefined) throw new Error('not yet recorded');
      return row;
    },
    { timeout: 15_000, interval: 50 },
  );
}

describe('a finished stream that stays open', () => {
  it('delivers and records the usage that follows the finish', async () => {
    play = async (response) => {
      sendAndStay(chunk({ content: 'hi' }), chunk({}, 'stop'))(response);
      await response.write(counts);
    };
    const { text, id } = await ask('chat', 'chat', true, { stream_options: { include_usage: true } });
    expect(text).toMatch(/"total_tokens":10\}[^\n]*\n\ndata: \[DONE\]\n\n$/);
    expect(await recordOf(id)).toMatchObject({ input_tokens: 7, output_tokens: 3, usage_estimated: false });
  });

  it('gets the usage that the client asked for and the upstream did not send', async () => {
    play = sendAndStay(chunk({ content: 'hi' }), chunk({}, 'stop'));
    const { text } = await ask('chat', 'chat', true, { stream_options: { include_usage: true } });
    expect(text).toMatch(/"usage":\{"prompt_tokens":\d+[^\n]*\n\ndata: \[DONE\]\n\n$/);
  });

  it('is recorded as served, and its connection is not used again', async () => {
    play = sendAndStay(chunk({ content: 'hi' }), chunk({}, 'stop'));
    const connections: (number | undefined)[] = [];
    for (let times = 0; times < 4; times++) {
      const { status, id } = await ask('chat', 'chat');
      expect(status).toBe(200);
      expect(await recordOf(id)).toMatchObject({ outcome: 'answered', attempts: [{ outcome: 'served' }] });
      connections.push(upstream.requests.at(-1)?.connection);
    }
    expect(new Set(connections).size).toBe(4);
  });
});

describe.concurrent.each(pairs)(
  'a %s client that wants a whole answer, of a %s upstream that streams',
  (client, model) => {
    const { opening, content, closing } = answers[model];

    it.each([
      ['stays open', (response: ScriptedResponse) => response],
      ['is cut', (response: ScriptedResponse) => response.cut()],
    ])('gets it when the finished stream %s', async (_name, then) => {
      const own: Play = async (response) => {
        response.head(200, { 'content-type': 'text/event-stream' });
        await response.write([...opening, ...content, ...closing].join(''));
        then(response);
      };
      const { status, text } = await askWith(own, client, model, false);
      expect([status, text.startsWith('{')]).toEqual([200, true]);
      expect(text).toMatch(model === 'gemini' ? /one / : /one two/);
    });
  },
);

describe('an answer that starts a second time', () => {
  const { opening, content, closing } = answers.messages;

  it.each(textFormats)('is reported as broken to a %s client', async (client) => {
    play = (response) =>
      response.send(
        200,
        { 'content-type': 'text/event-stream' },
        [...opening, content[0], ...opening, ...content, ...closing].join(''),
      );
    const { text } = await ask(client, 'messages');
    expect(text).not.toMatch(endings[client]);
    expect(text).toMatch(/"(error|response)":\{/);
  });
});

describe('a whole answer', () => {
  it.each(pairs)('is read with a byte order mark: a %s client of a %s upstream', async (client, model) => {
    play = (response, format) =>
      response.send(200, { 'content-type': 'application/json' }, `\u{FEFF}${JSON.stringify(answers[format].whole)}`);
    const { status, text } = await ask(client, model, false);
    expect([status, text.startsWith('{')]).toEqual([200, true]);
    expect(text).toContain('one two');
  });

  const empty: Readonly<Record<TextFormat, object>> = {
    chat: {
      id: 'c1',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: null }],
      usage,
    },
    messages: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    responses: {
      id: 'resp_1',
      object: 'response',
      status: 'in_progress',
      output: [],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
    gemini: {
      candidates: [{ index: 0, content: { role: 'model' } }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
    },
  };

  it.each(pairs)(
    'fails without content and finish reason, and is not cached: a %s client of a %s upstream',
    async (client, model) => {
      const members = client === 'gemini' ? { generationConfig: { temperature: 0 } } : { temperature: 0 };
      play = (response, format) => response.json(200, empty[format]);
      expect((await ask(client, model, false, members)).status).toBe(502);
      play = (response, format) => response.json(200, answers[format].whole);
      const { status, text } = await ask(client, model, false, members);
      expect(status).toBe(200);
      expect(text).toContain('one two');
    },
  );
});

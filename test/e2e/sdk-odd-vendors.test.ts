import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { type Recording, recordings } from '../plugins/format/replays/recordings.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const chat = recordings.filter(({ format, expected }) => format === 'chat' && expected.error === undefined);
/** Freeform tools are another shape of calls, and a second answer is not for these helpers. */
const isUsual = ({ expected: { request, calls = [] } }: Recording) =>
  request?.['n'] === undefined && calls.every(({ input }) => input === undefined);
const rows = chat.filter(isUsual).map((recording): [string, Recording] => [recording.name, recording]);
const wholes = rows.filter(([, { whole }]) => whole !== undefined);
const calling = rows.filter(([, { expected }]) => (expected.calls ?? []).length > 0);

let upstream: FaultyUpstream;
let gateway: TestGateway;
let openai: OpenAI;

beforeAll(async () => {
  upstream = await createUpstream((request, response) => {
    const recording = chat.find(({ name }) => request.path.startsWith(`/${name}/`)) as Recording;
    const { stream, messages } = request.json<{ stream?: boolean; messages: { role: string }[] }>();
    if (messages.at(-1)?.role === 'tool') return response.send(200, { 'content-type': 'text/event-stream' }, thanks);
    if (stream === true) return response.send(200, { 'content-type': 'text/event-stream' }, recording.stream);
    response.send(200, { 'content-type': 'application/json' }, recording.whole);
  });
  const upstreams = chat.map(({ name, expected: { vendor } }) => {
    const preset = vendor === undefined ? { format: 'chat' } : { vendor };
    return [nameOf(name), { ...preset, base_url: `${upstream.url}/${name}/v1`, api_keys: ['k'] }];
  });
  const models = chat.map(({ name, expected: { model = 'there', quirks = {} } }) => {
    return [nameOf(name), { routes: [{ to: `${nameOf(name)}/${model}`, quirks }] }];
  });
  gateway = await startGateway({
    yaml: `
pipeline: [auth, format, upstream, log]
upstreams: ${JSON.stringify(Object.fromEntries(upstreams))}
models: ${JSON.stringify(Object.fromEntries(models))}
`,
  });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

const thanks = ['{"role":"assistant","content":"Thanks."}', '{}']
  .map((delta, at) => {
    const choice = `{"index":0,"delta":${delta},"finish_reason":${at === 0 ? 'null' : '"stop"'}}`;
    return `data: {"id":"c2","object":"chat.completion.chunk","created":1,"model":"m","choices":[${choice}]}\n\n`;
  })
  .join('')
  .concat('data: [DONE]\n\n');
const parameters = { type: 'object', properties: {} } as const;
const names = ['get_weather', 'get_time', 'write_file'];
const tools = names.map((name) => ({ type: 'function' as const, function: { name, parameters } }));

/** Without the slash, behind which a model's name begins. */
function nameOf(recording: string): string {
  return recording.replace('/', '-');
}

function requestOf({ name, expected }: Recording) {
  return { model: nameOf(name), messages: [{ role: 'user' as const, content: 'Go.' }], tools, ...expected.request };
}

function expectChoice({ message, finish_reason }: OpenAI.ChatCompletion.Choice, { expected }: Recording): void {
  const { text = '', calls = [], finish } = expected;
  expect(message.content ?? '').toBe([text].flat().join(''));
  expect(finish_reason).toBe(finish);
  const given = (message.tool_calls ?? []).filter((call) => call.type === 'function');
  expect(given.map((call) => [call.function.name, JSON.parse(call.function.arguments) as JsonObject])).toEqual(
    calls.map((call) => [call.name, call.arguments ?? {}]),
  );
  for (const [at, { id }] of given.entries()) expect(id).toEqual(calls[at]?.id ?? expect.stringMatching(/\S/));
}

describe('the OpenAI SDK on a Chat route to an odd vendor', () => {
  it.each(rows)('accumulates the stream %s', async (_name, recording) => {
    const stream = openai.chat.completions.stream(requestOf(recording));
    const { choices } = await stream.finalChatCompletion();
    expect(choices).toHaveLength(1);
    expectChoice(choices[0] as OpenAI.ChatCompletion.Choice, recording);
  });

  it.each(rows)('loops over the stream %s', async (_name, recording) => {
    const stream = await openai.chat.completions.create({ ...requestOf(recording), stream: true });
    let text = '';
    for await (const { choices } of stream) for (const { delta } of choices) text += delta.content ?? '';
    expect(text).toBe([recording.expected.text ?? ''].flat().join(''));
  });

  it.each(wholes)('reads the whole answer %s', async (_name, recording) => {
    const { choices } = await openai.chat.completions.create(requestOf(recording));
    expectChoice(choices[0] as OpenAI.ChatCompletion.Choice, recording);
  });

  it.each(calling)('runs the tools of the stream %s', async (_name, recording) => {
    const ran: string[] = [];
    const runner = openai.chat.completions.runTools({
      ...requestOf(recording),
      stream: true,
      tools: names.map((name) => ({
        type: 'function' as const,
        function: {
          name,
          parameters,
          description: name,
          parse: JSON.parse,
          function: () => {
            ran.push(name);
            return 'ok';
          },
        },
      })),
    });
    expect(await runner.finalContent()).toBe('Thanks.');
    expect(ran.toSorted()).toEqual((recording.expected.calls ?? []).map(({ name }) => name).toSorted());
  });
});

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createLoopingUpstream, loop } from '../conformance/loops/looping-upstream.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

/** The answer of an upstream that then fails. */
const begun = {
  id: 'msg_begun',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Yes.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};
const formats = ['chat', 'responses', 'messages', 'gemini', 'ollama'];

let model: FaultyUpstream;
let broken: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  model = await createLoopingUpstream();
  broken = await createUpstream((request, response) => {
    const { error_code, status } = JSON.parse(String(request.json<JsonObject>()['system'])) as JsonObject;
    if (status === 200) return response.json(200, begun);
    const error = { type: 'invalid_request_error', message: 'No.', details: { error_code, key: 'secret-key' } };
    return response.json(Number(status), { type: 'error', error, request_id: 'req_1' });
  });
  const upstream = (name: string) => `  ${name}: { format: ${name}, base_url: "${model.url}/${name}", api_keys: [k] }`;
  const claude = (name: string, keys = 'k') =>
    `  ${name}: { vendor: anthropic, base_url: "${model.url}/threads/${name}", api_keys: [${keys}] }`;
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams:
${formats.map(upstream).join('\n')}
${claude('claude', 'k1, k2, k3, k4')}
${claude('twin')}
  broken: { vendor: anthropic, base_url: "${broken.url}/v1", api_keys: [secret-key] }
models:
${formats.map((name) => `  ${name}: { routes: [${name}/there] }`).join('\n')}
  claude: { routes: [claude/claude-there] }
  twins: { routes: [{ to: claude/claude-there, priority: 0 }, { to: twin/claude-there, priority: 0 }] }
  mixed: { routes: [claude/claude-there, chat/there] }
  broken: { routes: [broken/claude-there] }
  backed: { routes: [{ to: broken/claude-there, priority: 0 }, { to: claude/claude-there, priority: 1 }] }
`,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await broken[Symbol.asyncDispose]();
});

function client(apiKey = gateway.key): Anthropic {
  return new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
}

const asked = { role: 'user' as const, content: loop.question };
const look = {
  name: 'look',
  description: 'Looks.',
  input_schema: { type: 'object' as const, properties: {} },
  parse: () => ({}),
  run: () => loop.result,
};

async function runLoop(name: string, stream: boolean): Promise<string> {
  const params = { model: name, max_tokens: 100, system: 'Be brief.', messages: [asked], tools: [look] };
  const runner = client().beta.messages.toolRunner({ ...params, stream } as never);
  const { content } = (await runner.runUntilDone()) as Anthropic.Beta.BetaMessage;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

describe.each([false, true])('the tool runner of @anthropic-ai/sdk, streaming: %s', (stream) => {
  it.each([...formats, 'claude', 'twins', 'mixed'])(
    'ends a loop of three turns with its answer on %s',
    async (name) => {
      expect(await runLoop(name, stream)).toBe(loop.answer);
    },
  );
});

async function ask(thread: JsonObject, { to = 'claude', key = gateway.key, system = 's' } = {}) {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', 'anthropic-beta': 'message-threads-2026-08-12' },
    body: JSON.stringify({ model: to, max_tokens: 9, messages: [asked], tools: [], system, thread }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}
const begin = async (to?: string) => String((await ask({ type: 'create' }, { to })).body['id']);
/** Instructions for the scripted upstream `broken`. */
const instructed = (status: number) => JSON.stringify({ status, error_code: 'x' });

describe('a message thread', () => {
  it('is refused before the upstream is asked when the route would drop it', async () => {
    const count = model.requests.length;
    for (const to of [...formats, 'mixed']) {
      const { status, body } = await ask({ type: 'create' }, { to });
      const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
      expect([status, body]).toMatchObject([400, { error: { type: 'invalid_request_error', details } }]);
    }
    expect(model.requests.length).toBe(count);
  });

  it('is forwarded with its beta header to the vendor that keeps it, always with the same key', async () => {
    const count = model.requests.length;
    for (let round = 0; round < 5; round++) {
      const { status } = await ask({ type: 'continue', previous_message_id: await begin() });
      expect(status).toBe(200);
    }
    const keys = model.requests.slice(count).map(({ headers }) => String(headers['x-api-key']));
    expect(keys.filter((key, index) => index % 2 === 1 && key !== keys[index - 1])).toEqual([]);
    expect(model.requests.at(-1)?.headers['anthropic-beta']).toBe('message-threads-2026-08-12');
  });

  it('is found by the account that began it, and by no other', async () => {
    const id = await begin();
    const period = { days: 1, reason: 'grant' } as const;
    const other = await createAccount(gateway.database, 'dp', { name: 'Other', period });
    const { status, body } = await ask({ type: 'continue', previous_message_id: id }, { key: other.key });
    expect([status, body]).toMatchObject([404, { error: { details: { error_code: 'thread_not_found' } } }]);
  });

  it('is not continued at another upstream', async () => {
    const id = await begin();
    const count = model.requests.length;
    const { status } = await ask({ type: 'continue', previous_message_id: id }, { to: 'broken' });
    expect([status, model.requests.length]).toEqual([404, count]);
  });

  it('restarts with all messages at the next upstream when its own upstream fails', async () => {
    await ask({ type: 'create' }, { to: 'backed', system: instructed(200) });
    const thread = { type: 'continue', previous_message_id: begun.id };
    const { status, body } = await ask(thread, { to: 'backed', system: instructed(503) });
    expect([status, body]).toMatchObject([404, { error: { details: { error_code: 'thread_not_found' } } }]);
    const again = await ask({ type: 'create' }, { to: 'backed', system: instructed(503) });
    expect(again.status).toBe(200);
  });

  it('that was paused continues without a new message', async () => {
    const id = await begin();
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'claude',
        max_tokens: 9,
        messages: [],
        thread: { type: 'continue', previous_message_id: id },
      }),
    });
    expect(response.status).toBe(200);
  });

  it.each([
    [404, 'thread_not_found'],
    [400, 'thread_unsupported_request'],
    [409, 'thread_already_continued'],
  ])('is refused by its vendor with status %i and the details, without keys', async (status, error_code) => {
    const system = JSON.stringify({ status, error_code });
    const reply = await ask({ type: 'create' }, { to: 'broken', system });
    expect(reply).toMatchObject({ status, body: { error: { message: 'No.', details: { error_code } } } });
    expect(JSON.stringify(reply.body)).not.toContain('secret-key');
  });
});

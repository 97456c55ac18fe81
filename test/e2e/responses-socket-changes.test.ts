import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { answerInAnyFormat, beginAnswer, endAnswer } from '../support/five-formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { SocketClient, type SocketEvent, textOf } from '../support/socket-client.ts';

let upstream: FaultyUpstream;
let gateway: TestGateway;
/** What the upstream does with the next requests; replaced by tests. */
let answer: Handler = answerInAnyFormat;

interface Changes {
  readonly format?: string;
  readonly key?: string;
  readonly minutes?: number;
}

function yamlWith({ format = 'responses', key = 'first-key', minutes = 60 }: Changes = {}): string {
  return `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 1 }
  - format
  - upstream: { first_byte_timeout: 5, idle_timeout: 5, connect_timeout: 1 }
  - log
upstreams: { one: { format: ${format}, base_url: "${upstream.url}", api_keys: [${key}] } }
models: { on-chat: { routes: [one/m] } }
websocket: { max_minutes: ${minutes} }
`;
}

beforeAll(async () => {
  upstream = await createUpstream((request, response) => answer(request, response));
  gateway = await startGateway({ yaml: yamlWith() });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  answer = answerInAnyFormat;
});

const open = (key = gateway.key) => SocketClient.open(gateway.url, { authorization: `Bearer ${key}` });

async function reload(changes: Changes): Promise<void> {
  await gateway.write(yamlWith(changes));
  expect(await gateway.gateway.reload()).toBe(true);
}

/** Answers begin, and end when the test says so. */
function answerUntil(): () => void {
  const gate = Promise.withResolvers<void>();
  answer = async (request, response) => {
    await beginAnswer(request, response);
    await gate.promise;
    await endAnswer(request, response);
  };
  return gate.resolve;
}

const hasBegun = ({ type }: SocketEvent) => type === 'response.output_text.delta';

function post(): Promise<Response> {
  return fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'on-chat', input: 'hello', stream: true, store: false }),
  });
}

describe('a conversation on a WebSocket', () => {
  it('continues when the upstream has got another key and another format', async () => {
    using client = await open();
    const first = await client.ask({ input: 'one', store: false });
    expect(upstream.requests.at(-1)?.headers['authorization']).toBe('Bearer first-key');
    await reload({ format: 'messages', key: 'second-key' });
    const second = await client.ask({ input: 'two', store: false, previous_response_id: first.response?.id });
    const { path, headers, body } = upstream.requests.at(-1) ?? {};
    expect([path, JSON.stringify(headers).includes('second-key')]).toEqual(['/messages', true]);
    expect(String(body)).toMatch(/one.*one two.*two/);
    await reload({});
    const third = await client.ask({ input: 'three', store: false, previous_response_id: second.response?.id });
    expect(textOf(third)).toBe('one two');
    expect(upstream.requests.at(-1)?.json<{ input: object[] }>().input.length).toBe(5);
  });

  it('is refused from the request on that finds the plan ended', async () => {
    const { key, accountId } = await createAccount(gateway.database, 'dp', { name: 'Ends soon' });
    await gateway.database.query(
      `INSERT INTO plan_period (id, account_id, starts_at, ends_at, days, reason)
       VALUES (gen_random_uuid(), ?, now() - interval '1 day' + interval '4 seconds', now() + interval '4 seconds', 1, 'grant')`,
      [accountId],
    );
    using client = await open(key);
    const first = await client.ask({ input: 'one', store: false });
    expect(first.type).toBe('response.completed');
    await vi.waitFor(
      async () => {
        const next = await client.ask({ stream_id: 'fork', input: 'two', previous_response_id: first.response?.id });
        expect(next).toMatchObject({ type: 'error', status: 400, error: { code: 'insufficient_quota' } });
      },
      { timeout: 20_000, interval: 200 },
    );
    // A request that fails elsewhere has left the conversation; the connection is open, so that the client can buy another plan.
    expect(client.ws.readyState).toBe(client.ws.OPEN);
  });
});

describe('the requests in flight of a key', () => {
  it('are those of a POST, for whose end a request on a WebSocket waits', async () => {
    const finish = answerUntil();
    const posted = await post();
    using client = await open();
    client.create({ input: 'hello', store: false });
    client.create({ stream_id: 'prepared', generate: false, input: [], store: false });
    expect(await client.ending()).toMatchObject({ stream_id: 'prepared' });
    expect(client.events.some(({ stream_id }) => stream_id === undefined)).toBe(false);
    finish();
    await posted.text();
    expect(textOf(await client.ending())).toBe('one two');
  });

  it('include those of a WebSocket, so that another POST is refused', async () => {
    const finish = answerUntil();
    using client = await open();
    client.create({ input: 'hello', store: false });
    await client.next(hasBegun);
    const refused = await post();
    expect(refused.status).toBe(429);
    await refused.text();
    finish();
    expect(textOf(await client.ending())).toBe('one two');
  });
});

describe('a WebSocket', () => {
  it('takes no further requests when it is too old, and closes when those that run have ended', async () => {
    await reload({ minutes: 0.01 });
    try {
      const finish = answerUntil();
      using client = await open();
      client.create({ stream_id: 'running', input: 'hello', store: false });
      await client.next(hasBegun);
      await vi.waitFor(
        async () => {
          const refused = await client.ask({ stream_id: 'late', generate: false, input: [], store: false });
          expect(refused).toMatchObject({
            status: 400,
            stream_id: 'late',
            error: {
              code: 'websocket_connection_limit_reached',
              message:
                'Responses websocket connection limit reached (0.01 minutes). Create a new websocket connection to continue.',
            },
          });
        },
        { timeout: 10_000, interval: 50 },
      );
      finish();
      expect(textOf(await client.ending('running'))).toBe('one two');
      client.create({ input: 'hello' });
      expect(await client.closed).toBe(1001);
      expect(client.events.at(-1)).toMatchObject({ error: { code: 'websocket_connection_limit_reached' } });
    } finally {
      await reload({});
    }
  });

  it('closes with 1013 where there is no memory for what is sent on it', async () => {
    using client = await open();
    const { memory } = gateway.gateway.host;
    const held = memory.createShare('others');
    held.add(memory.capacity);
    try {
      client.create({ input: 'x'.repeat(1_000_000) });
      expect(await client.closed).toBe(1013);
    } finally {
      held.release();
    }
  });

  it('closes with 1012 when the gateway stops, once its requests have ended', async () => {
    const finish = answerUntil();
    using idle = await open();
    using busy = await open();
    busy.create({ input: 'hello', store: false });
    await busy.next(hasBegun);
    const stopped = gateway.gateway.stop();
    expect(await idle.closed).toBe(1012);
    finish();
    expect(textOf(await busy.ending())).toBe('one two');
    expect(await busy.closed).toBe(1012);
    await stopped;
  });
});

import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { freePort } from '../support/free-port.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';

// Whole processes start, stop and restart here, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000 });

/** Streams pause here until a test resumes them, and hundreds begin at once: no timeout may end one. */
const patientYaml = (baseUrl: string) =>
  yamlFor(baseUrl).replaceAll(/(first_byte|idle|connect)_timeout: \d+/g, '$1_timeout: 60');
/** For `listen`, where a test decides when the streams end that a stop waits for. */
const patientDrain = 'drain_timeout: 60';

let upstream: FaultyUpstream;
let home: GatewayHome;
let answer: Handler;
beforeEach(async () => {
  answer = answerChat('hello');
  upstream = await createUpstream((request, response) => answer(request, response));
  home = await createGatewayHome(patientYaml(`${upstream.url}/v1`));
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const chunk = (content: string, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});

/** An upstream that answers whole or streamed, as requested. The end of a stream waits for the gate. */
function answerChat(content: string, gate: Promise<void> = Promise.resolve()): Handler {
  return async (request, response) => {
    if (request.json()['stream'] !== true) {
      const message = { role: 'assistant', content };
      response.json(200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'model-there',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
      return;
    }
    response.sse();
    await response.event(chunk(content));
    await gate;
    await response.event(chunk('', 'stop'));
    await response.event('[DONE]');
    response.end();
  };
}

const firstEvents: Record<string, [name: string | undefined, value: object]> = {
  '/v1/chat/completions': [undefined, chunk('hello')],
  '/v1/responses': [
    'response.output_text.delta',
    {
      type: 'response.output_text.delta',
      sequence_number: 4,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'hello',
    },
  ],
  '/v1/messages': [
    'content_block_delta',
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
  ],
};

/** Streams the first event of the requested format and never ends. */
const stall: Handler = async ({ path }, response) => {
  response.sse();
  const [name, value] = firstEvents[path] ?? [];
  await response.event(value, name);
};

const question = { model: 'test', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

async function ask(url: string, body: object = question, path = '/v1/chat/completions', key = home.key) {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

interface RunningStream {
  readonly id: string;
  /** The whole text, when the stream has ended. */
  readonly rest: Promise<string>;
  /** The text of a stream that ends without its end. */
  readonly broken: Promise<string>;
}

/** Requests a stream and waits for its first content. */
async function openStream(url: string, path?: string, body: object = question): Promise<RunningStream> {
  const response = await ask(url, { ...body, stream: true }, path);
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  while (!text.includes('hello')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended without content: ${text}`);
    text += value;
  }
  const readOn = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  };
  const rest = readOn();
  const broken = rest.then(
    () => 'ended regularly',
    () => text,
  );
  return { id: response.headers.get('x-request-id') ?? '', rest, broken };
}

interface Row {
  readonly id: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly error_code: string | null;
}

async function records(): Promise<Row[]> {
  return home.database.query<Row>('SELECT id, outcome, status, error_code FROM request_log');
}

async function printed(gateway: GatewayProcess, text: string, times = 1): Promise<void> {
  await vi.waitFor(() => expect(gateway.output().split(text).length - 1).toBeGreaterThanOrEqual(times), {
    timeout: 15_000,
    interval: 10,
  });
}

describe('SIGTERM', () => {
  it('makes the gateway unready at once and lets running streams end', async () => {
    const gate = Promise.withResolvers<void>();
    answer = answerChat('hello', gate.promise);
    await home.write(patientYaml(`${upstream.url}/v1`), patientDrain);
    const gateway = await home.start();
    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(gateway.url)));
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    const ended = gateway.end('SIGTERM');
    await printed(gateway, 'finishing requests in flight');
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
    gate.resolve();
    for (const { rest } of streams) expect(await rest).toMatch(/\[DONE\]\s*$/);
    expect(await ended).toBe(0);
    const rows = await records();
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(streams.map(({ id }) => id)));
    expect(rows).toHaveLength(50);
    expect(rows.every(({ outcome, status }) => outcome === 'answered' && status === 200)).toBe(true);
  });

  it('reaches the gateway through npm', async () => {
    const gateway = await home.start({}, ['npm', 'run', '--silent', 'daypass', '--']);
    const code = await gateway.end('SIGTERM');
    expect([code, gateway.output()]).toEqual([0, expect.stringContaining('SIGTERM: finishing requests in flight')]);
  });

  it('that arrives twice, as from a shell and its process group, counts once', async () => {
    const gate = Promise.withResolvers<void>();
    answer = answerChat('hello', gate.promise);
    await home.write(patientYaml(`${upstream.url}/v1`), patientDrain);
    const gateway = await home.start();
    const { rest } = await openStream(gateway.url);
    const ended = gateway.end('SIGTERM');
    await printed(gateway, 'finishing requests in flight');
    gateway.process.kill('SIGTERM');
    gate.resolve();
    expect(await rest).toMatch(/\[DONE\]\s*$/);
    expect(await ended).toBe(0);
  });

  it('ends streams that outlast the drain limit with an error in the client’s format', async () => {
    answer = stall;
    await writeFile(
      home.file,
      `listen: { port: 0, notice_period: 0, drain_timeout: 1 }\n${patientYaml(`${upstream.url}/v1`)}`,
    );
    const gateway = await home.start();
    const chat = await openStream(gateway.url);
    const responses = await openStream(gateway.url, '/v1/responses', { model: 'test', input: 'hi' });
    const messages = await openStream(gateway.url, '/v1/messages');
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect(await chat.broken).toMatch(/data: \{"error":.*"code":"shutting_down".*\n\n$/);
    expect(await responses.broken).toMatch(/event: response\.failed\ndata: .*"code":"server_error".*\n\n$/);
    expect(await messages.broken).toMatch(
      /event: error\ndata: \{"type":"error",.*connection reset by the server.*\n\n$/,
    );
    const rows = await records();
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toMatchObject({ outcome: 'failed', status: 200, error_code: 'shutting_down' });
  });
});

describe('SIGKILL', () => {
  it('under load loses no record of an answered request, and the next start records the running ones', async () => {
    const answering = answerChat('hello');
    answer = (request, response) => (request.json()['stream'] === true ? stall : answering)(request, response);
    const first = await home.start();
    const running = await Promise.all(Array.from({ length: 20 }, () => openStream(first.url)));
    /** One list per client: a client sends its next request after the answer. */
    const answered: string[][] = [];
    const enough = Promise.withResolvers<void>();
    const load = Array.from({ length: 20 }, async () => {
      const own: string[] = [];
      answered.push(own);
      for (;;) {
        const response = await ask(first.url).catch(() => undefined);
        if (response === undefined) return;
        const text = await response.text().catch(() => '');
        if (response.status === 200 && text.endsWith('}')) own.push(response.headers.get('x-request-id') ?? '');
        if (answered.flat().length > 200) enough.resolve();
      }
    });
    await enough.promise;
    await first.end('SIGKILL');
    await Promise.all(load);

    const second = await home.start();
    expect((await ask(second.url)).status).toBe(200);
    await vi.waitFor(
      async () => {
        const outcomes = new Map((await records()).map(({ id, outcome }) => [id, outcome]));
        expect(answered.flat().filter((id) => !outcomes.has(id))).toEqual([]);
        // A client's last answer may have been sent just before the gateway could record it.
        const settled = answered.flatMap((ids) => ids.slice(0, -1));
        expect(settled.filter((id) => outcomes.get(id) !== 'answered')).toEqual([]);
        expect(running.filter(({ id }) => outcomes.get(id) !== 'interrupted')).toEqual([]);
      },
      { timeout: 15_000, interval: 100 },
    );
    const rows = await records();
    expect(rows).toHaveLength(new Set(rows.map(({ id }) => id)).size);
  });
});

it('a start whose database is down waits where it may, is alive and not ready meanwhile, and serves when it is back', async () => {
  const target = new URL(home.databaseUrl);
  await using proxy = await createTcpProxy({ host: target.hostname, port: Number(target.port) });
  proxy.turn('cut');
  const port = await freePort();
  await writeFile(
    home.file,
    `listen: { port: ${port}, notice_period: 0, drain_timeout: 5 }\n${patientYaml(`${upstream.url}/v1`)}`,
  );
  target.host = `127.0.0.1:${proxy.port}`;
  const starting = home.start({ DATABASE_URL: target.href, DATABASE_WAIT: '120' });
  const url = `http://127.0.0.1:${port}`;
  const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
  await vi.waitFor(async () => expect(await statusOf('/livez')).toBe(200), { timeout: 30_000, interval: 50 });
  expect(await statusOf('/readyz')).toBe(503);
  const refused = await ask(url);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  proxy.turn('open');
  const gateway = await starting;
  expect(gateway.output()).toMatch(
    /waiting for the database 127\.0\.0\.1:\d+\/\w+ of DATABASE_URL: .*of at most 120 s\)/,
  );
  expect([await statusOf('/readyz'), (await ask(url)).status]).toEqual([200, 200]);
});

it('a killed gateway leaves its compiled code for the next start', async () => {
  const cache = join(home.folder, 'compiled');
  const gateway = await home.start({ NODE_COMPILE_CACHE: cache });
  const compiled = async () => (await readdir(cache, { recursive: true })).length;
  await vi.waitFor(async () => expect(await compiled()).toBeGreaterThan(500), { timeout: 15_000, interval: 50 });
  await gateway.end('SIGKILL');
});

describe('a changed gateway.yaml', () => {
  it('is loaded while requests run: they finish on the old configuration, new ones use the new', async () => {
    await using other = await createUpstream((request, response) => answerChat('other')(request, response));
    const gate = Promise.withResolvers<void>();
    answer = answerChat('hello', gate.promise);
    const gateway = await home.start();
    const streams = await Promise.all(Array.from({ length: 30 }, () => openStream(gateway.url)));

    const over = new AbortController();
    const statuses: number[] = [];
    const load = (async () => {
      while (!over.signal.aborted) {
        const response = await ask(gateway.url);
        await response.text();
        statuses.push(response.status);
      }
    })();
    await home.write(patientYaml(`${other.url}/v1`));
    await printed(gateway, 'has been reloaded');
    expect(await (await ask(gateway.url)).text()).toContain('other');
    over.abort();
    await load;
    expect(new Set(statuses)).toEqual(new Set([200]));

    gate.resolve();
    for (const { rest } of streams) expect(await rest).toMatch(/hello[^]*\[DONE\]\s*$/);
    await gateway.end('SIGTERM');
    const rows = await records();
    expect(rows.every(({ outcome }) => outcome === 'answered')).toBe(true);
  });

  it('is not needed for a secret in a file that Kubernetes exchanges: the next request has the new one', async () => {
    const mount = join(home.folder, 'secrets');
    const publish = async (version: string) => {
      await mkdir(join(mount, `..${version}`), { recursive: true });
      await writeFile(join(mount, `..${version}`, 'key'), `sk-${version}\n`);
      await symlink(`..${version}`, join(mount, '..data_tmp'));
      await rename(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    await publish('old');
    await symlink(join('..data', 'key'), join(mount, 'key'));
    await home.write(
      patientYaml(`${upstream.url}/v1`).replace('one: {', 'one: { api_keys: ["${file:./secrets/key}"],'),
    );
    const seen: (string | undefined)[] = [];
    const plain = answerChat('hello');
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      return plain(request, response);
    };
    const gateway = await home.start();
    await (await ask(gateway.url)).text();
    await publish('new');
    await rm(join(mount, '..old'), { recursive: true });
    await printed(gateway, 'has been reloaded');
    await (await ask(gateway.url)).text();
    expect(seen).toEqual(['Bearer sk-old', 'Bearer sk-new']);
  });

  it('changes nothing if it has mistakes: all are printed, and SIGHUP loads it again', async () => {
    const gateway = await home.start();
    await home.write(`${patientYaml(`${upstream.url}/v1`)}
aliases: { tset: tets }
plan: []
`);
    await printed(gateway, 'the previous configuration stays active');
    expect(gateway.output()).toMatch(/gateway\.yaml:\d+:\d+ aliases\.tset: .*did you mean "?test"?/);
    expect(gateway.output()).toMatch(/gateway\.yaml:\d+:\d+ plan: .*did you mean "?plans"?/);
    expect((await ask(gateway.url)).status).toBe(200);

    gateway.process.kill('SIGHUP');
    await printed(gateway, 'the previous configuration stays active', 2);
    expect((await ask(gateway.url)).status).toBe(200);

    await home.write(`${patientYaml(`${upstream.url}/v1`)}\n# put right\n`);
    await printed(gateway, 'is valid again');
    gateway.process.kill('SIGHUP');
    await printed(gateway, 'has not changed');

    await home.write(`${patientYaml(`${upstream.url}/v1`)}\naliases: { other: test }\n`);
    gateway.process.kill('SIGHUP');
    await printed(gateway, 'has been reloaded');
    expect((await ask(gateway.url, { ...question, model: 'other' })).status).toBe(200);
  });
});

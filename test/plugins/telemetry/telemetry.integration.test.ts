import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- OTLP, whose forms the tests state
type Item = any;

/** What a collector has taken, by path. */
interface Received {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Item;
}

async function startReceiver(): Promise<{ server: Server; url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(gunzipSync(await buffer(request)).toString()) as unknown;
    received.push({ path: request.url, authorization: request.headers.authorization, body });
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const client = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let upstream: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  receiver = await startReceiver();
  upstream = await createUpstream((_request, response) =>
    response.json(200, {
      id: 'c1',
      object: 'chat.completion',
      model: 'model-there',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    }),
  );
  const yaml = yamlFor(upstream.url).replace('base_url', 'trace_context: true, base_url');
  gateway = await startGateway({
    yaml: `${yaml}telemetry: { endpoint: "${receiver.url}/", protocol: http/json, headers: authorization=Bearer%20secret, stages: true, metrics_interval: 1 }\n`,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  receiver.server.close();
});

async function ask(headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'a private prompt' }] }),
  });
  await response.text();
  return response;
}

const attributes = ({ attributes: list }: Item): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }: { key: string; value: object }) => [key, Object.values(value)[0]]));

/** Items of a path, once there are some for which the condition holds. */
async function itemsOf(path: string, isMeant: (items: readonly Item[]) => boolean): Promise<Item[]> {
  return vi.waitFor(
    () => {
      const items = receiver.received
        .filter((each) => each.path === path)
        .flatMap(({ body }) => Object.values(body).flat() as Item[])
        .flatMap((resource) => resource.scopeSpans ?? resource.scopeLogs ?? resource.scopeMetrics)
        .flatMap((scope) => scope.spans ?? scope.logRecords ?? scope.metrics);
      expect(isMeant(items)).toBe(true);
      return items;
    },
    { timeout: 20_000, interval: 50 },
  );
}

describe('a collector gets', () => {
  it('a span of the request in the trace of its client, one of each stage, and one of the attempt, which the upstream continues', async () => {
    const response = await ask({ traceparent: `00-${client.trace}-${client.span}-01` });
    const id = response.headers.get('x-request-id') ?? '';
    const spans = (await itemsOf('/v1/traces', (all) => all.some(({ traceId }) => traceId === client.trace))).filter(
      ({ traceId }) => traceId === client.trace,
    );
    const [request] = spans;
    expect(request).toMatchObject({ name: 'POST /v1/chat/completions', kind: 2, parentSpanId: client.span });
    expect(attributes(request)).toMatchObject({
      'http.response.status_code': '200',
      'daypass.request.id': id,
      'daypass.account.id': gateway.accountId,
    });
    expect(spans.filter(({ kind }) => kind === 1).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['auth', 'plan', 'format', 'upstream']),
    );
    const attempt = spans.find(({ kind }) => kind === 3);
    expect(attempt).toMatchObject({ name: 'chat model-there', parentSpanId: request.spanId });
    expect(attributes(attempt)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'one',
      'gen_ai.request.model': 'model-there',
      'gen_ai.usage.input_tokens': '7',
      'gen_ai.usage.output_tokens': '3',
      'server.address': '127.0.0.1',
    });
    expect(upstream.requests.at(-1)?.headers['traceparent']).toBe(`00-${client.trace}-${attempt.spanId}-01`);
  });

  it('every record, with the id of its request and without its content', async () => {
    const id = (await ask()).headers.get('x-request-id') ?? '';
    const records = await itemsOf('/v1/logs', (all) => all.some(({ traceId }) => `req_${traceId}` === id));
    const record = records.find(({ traceId }) => `req_${traceId}` === id);
    expect(attributes(record)).toMatchObject({
      'daypass.request.id': id,
      'daypass.route': 'one/model-there',
      'daypass.input_tokens': '7',
      'daypass.outcome': 'answered',
    });
    expect(JSON.stringify(receiver.received)).not.toContain('a private prompt');
  });

  it('the metrics of /metrics, with its own headers', async () => {
    const metrics = await itemsOf('/v1/metrics', (all) => all.some(({ name }) => name === 'daypass_requests_total'));
    expect(metrics.map(({ name }) => name)).toContain('daypass_request_duration_seconds');
    expect(new Set(receiver.received.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret']));
  });
});

it.each([
  ['is away', () => undefined],
  // It takes the connection and never answers.
  ['hangs', () => createServer(() => undefined).listen(0, '127.0.0.1')],
])(
  'a gateway serves while its collector %s, counts nothing as lost, and keeps records for its return',
  async (_, open) => {
    const server = open();
    if (server !== undefined) await once(server, 'listening');
    const port = server === undefined ? 1 : (server.address() as AddressInfo).port;
    try {
      await using shut = await startGateway({
        yaml: `${yamlFor(upstream.url)}telemetry: { endpoint: "http://127.0.0.1:${port}", timeout: 1 }\n`,
      });
      const response = await fetch(`${shut.url}/v1/models`, { headers: { authorization: `Bearer ${shut.key}` } });
      expect(response.status).toBe(200);
      await vi.waitFor(
        async () => {
          const text = await (await fetch(`${shut.operatorUrl}/metrics`)).text();
          expect(text).toMatch(/^daypass_telemetry_waiting_records 1$/m);
          expect(text).toMatch(/^daypass_telemetry_dropped_total\{signal="records"\} 0$/m);
        },
        { timeout: 20_000, interval: 50 },
      );
    } finally {
      server?.closeAllConnections();
      server?.close();
    }
  },
);

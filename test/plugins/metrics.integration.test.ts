import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adapter, cacheStatus, delivery } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Adapter } from '#core/gateway/model-call/adapter.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { Metrics, registerGauge } from '../../plugins/metrics/metrics.ts';
import { RequestMeters } from '../../plugins/metrics/request-meters.ts';
import { createExchange } from '../support/exchange.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { modelOf } from './format/catalog/catalog-fixture.ts';
import { answer } from './upstream/fixture.ts';

const token = 'a-token-of-some-length';

const hostWith = (errors: string[]) =>
  ({ log: { error: (message: string) => void errors.push(message) } }) as unknown as Host;

describe('request metrics', () => {
  const outcome: Outcome = {
    kind: 'answered',
    status: 200,
    error: undefined,
    bytesSent: 10,
    duration: 3_000,
    firstByteAfter: 40,
  };

  it('count requests by endpoint, outcome and status, with attempts and times', async () => {
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    const exchange = createExchange({});
    const times = { startedAt: 0, duration: 1 };
    exchange.set(delivery, {
      attempts: [
        { route: 'one/m', outcome: 'failed', fault: 'throttled', ...times },
        { route: 'two/m', outcome: 'served', ...times },
      ],
      usage: undefined,
      firstContentAfter: undefined,
    });
    meters.done(exchange, outcome);
    const { name } = exchange.endpoint;
    const text = await metrics.metrics();
    for (const line of [
      `daypass_requests_total{endpoint="${name}",model="none",outcome="answered",status="200"} 1`,
      'daypass_attempts_total{route="one/m",outcome="failed",fault="throttled"} 1',
      'daypass_attempts_total{route="two/m",outcome="served",fault="none"} 1',
      `daypass_request_duration_seconds_bucket{le="2.5",endpoint="${name}"} 0`,
      `daypass_request_duration_seconds_bucket{le="5",endpoint="${name}"} 1`,
      `daypass_first_byte_seconds_bucket{le="0.025",endpoint="${name}"} 0`,
      `daypass_first_byte_seconds_bucket{le="0.1",endpoint="${name}"} 1`,
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('count tokens by model and kind', async () => {
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    for (const usage of [{ input: 7, output: 5, cacheRead: 4, reasoning: 2 }, { input: 1 }, undefined]) {
      const exchange = createExchange({});
      exchange.set(adapter, { model: modelOf('test') } as Adapter);
      exchange.set(delivery, { attempts: [], usage, firstContentAfter: undefined });
      meters.done(exchange, outcome);
    }
    const lines = (await metrics.metrics()).split('\n');
    expect(lines.filter((line) => line.startsWith('daypass_tokens_total'))).toEqual([
      'daypass_tokens_total{model="test",kind="input"} 8',
      'daypass_tokens_total{model="test",kind="output"} 5',
      'daypass_tokens_total{model="test",kind="cache_read"} 4',
      'daypass_tokens_total{model="test",kind="reasoning"} 2',
    ]);
  });

  it.each([Number.NaN, Infinity, 1e300, -1])('ignore a token count of %d', async (input) => {
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    const exchange = createExchange({});
    exchange.set(adapter, { model: modelOf('test') } as Adapter);
    exchange.set(delivery, { attempts: [], usage: { input }, firstContentAfter: undefined });
    meters.done(exchange, outcome);
    expect(await metrics.metrics()).not.toContain('tokens_total{');
  });

  it('count cache hits and misses', async () => {
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    for (const status of ['hit', 'miss', 'hit', undefined] as const) {
      const exchange = createExchange({});
      if (status !== undefined) exchange.set(cacheStatus, status);
      meters.done(exchange, outcome);
    }
    expect(await metrics.metrics()).toContain(
      'daypass_cache_requests_total{result="hit"} 2\ndaypass_cache_requests_total{result="miss"} 1\n',
    );
  });

  it('have no status and no first byte when nothing was sent', async () => {
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    meters.done(createExchange({}), { ...outcome, kind: 'aborted', status: undefined, firstByteAfter: undefined });
    const text = await metrics.metrics();
    expect(text).toMatch(/requests_total\{[^}]*outcome="aborted",status="none"\} 1/);
    expect(text).not.toMatch(/first_byte_seconds_count\{/);
  });
});

describe('gauge', () => {
  it('drops readings that are no longer reported', async () => {
    const metrics = new Registry();
    const routes = ['one', 'two'];
    const read = () => routes.map((route) => ({ value: 2, labels: { route } }));
    registerGauge({ name: 'state', description: 'State.', labels: ['route'], read }, metrics, () => hostWith([]));
    expect(await metrics.metrics()).toContain('daypass_state{route="one"} 2\ndaypass_state{route="two"} 2');
    routes.shift();
    expect(await metrics.metrics()).not.toContain('"one"');
  });

  it('of thousands of readings are taken in several turns, and are whole for all who ask meanwhile', async () => {
    const readings = Array.from({ length: 5_000 }, (_, index) => ({ value: 2, labels: { route: `r${index}` } }));
    const gauge = { name: 'state', description: 'State.', labels: ['route'], read: () => readings };
    const host = { ...hostWith([]), service: { slug: 'daypass' } } as Host;
    const metrics = new Metrics([gauge], () => host);
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const texts = await Promise.all([metrics.readText(), metrics.readText()]);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(2);
    for (const text of texts) expect(text.match(/^daypass_state\{route="r\d+"\} 2$/gm)).toHaveLength(5_000);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('away'))],
    ['throws while it is read', () => ({ [Symbol.iterator]: () => Iterator.from([]).drop(-1) })],
    ['has a label that it did not announce', () => [{ value: 1, labels: { route: 'one' } }]],
  ])('that %s is logged and leaves the others in place', async (_, read) => {
    const metrics = new Registry();
    const errors: string[] = [];
    const failing = hostWith(errors);
    const host = () => failing;
    registerGauge({ name: 'broken', description: 'Broken.', read }, metrics, host);
    registerGauge({ name: 'healthy', description: 'Healthy.', read: () => [{ value: 7 }] }, metrics, host);
    expect(await metrics.metrics()).toContain('daypass_healthy 7');
    expect(errors).toEqual(['the gauge broken failed']);
  });
});

describe('GET /metrics', () => {
  let broken: FaultyUpstream;
  let busy: FaultyUpstream;
  let sound: FaultyUpstream;
  let gateway: TestGateway;
  const yaml =
    () => `${wholePipeline.replace('connect_timeout: 1 }', 'connect_timeout: 1, breaker: { cooldown: 60 } }')}
upstreams:
  broken: { format: chat, base_url: "${broken.url}/v1" }
  busy: { format: chat, base_url: "${busy.url}/v1", api_keys: [k-one, k-two] }
  sound: { format: chat, base_url: "${sound.url}/v1" }
models:
  test: { routes: [broken/m, sound/m] }
  crowded: { routes: [busy/m, sound/m] }
`;
  beforeAll(async () => {
    broken = await createUpstream((_request, response) => response.json(503, { error: { message: 'down' } }));
    busy = await createUpstream((_request, response) =>
      response.json(429, { error: { message: 'slow down' } }, { 'retry-after': '60' }),
    );
    sound = await createUpstream((_request, response) => response.json(200, answer));
    gateway = await startGateway({ yaml: yaml() });
    expect(await figure('route_state{route="broken/m"}')).toBe(0);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await Promise.all([broken, busy, sound].map((upstream) => upstream[Symbol.asyncDispose]()));
  });

  // Each in a conversation of its own: after two failures in one, it asks another route first.
  const ask = (model: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: crypto.randomUUID() }] }),
    }).then((response) => response.text());
  const scrape = async (headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.operatorUrl}/metrics`, { headers });
    return { response, text: await response.text() };
  };
  const figure = async (series: string) => {
    const line = (await scrape()).text.split('\n').find((text) => text.startsWith(`daypass_${series} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const until = (series: string, value: number) =>
    vi.waitFor(async () => expect(await figure(series)).toBe(value), { timeout: 10_000 });

  const answered = 'requests_total{endpoint="chat",model="test",outcome="answered",status="200"}';
  const served = 'attempts_total{route="sound/m",outcome="served",fault="none"}';
  const timed = 'request_duration_seconds_count{endpoint="chat"}';
  const counts = async () => Promise.all([answered, served, timed].map(async (series) => (await figure(series)) ?? 0));

  /** Five requests open the breaker of the dead route, the sixth finds it open. */
  async function findDeadRoute(): Promise<void> {
    const [before = 0] = await counts();
    for (let request = 0; request < 6; request++) await ask('test');
    await until(answered, before + 6);
  }

  it('shows breakers, requests and attempts of a dead route', async () => {
    // Tests before this one had requests of their own.
    const before = await counts();
    await findDeadRoute();
    expect(await figure('route_state{route="broken/m"}')).toBe(2);
    expect(await figure('route_state{route="sound/m"}')).toBe(0);
    expect(await figure('attempts_total{route="broken/m",outcome="failed",fault="route"}')).toBe(5);
    expect(await counts()).toEqual(before.map((count) => count + 6));
    expect(await figure('requests_running')).toBe(0);
  });

  it('shows keys that are cooling down', async () => {
    expect(await figure('upstream_keys_cooling_down{upstream="busy"}')).toBe(0);
    await ask('crowded');
    await until('upstream_keys_cooling_down{upstream="busy"}', 2);
  });

  it('shows dependencies and the journal', async () => {
    expect(await figure('dependency_up{dependency="database"}')).toBe(1);
    expect(await figure('dependency_up{dependency="shared_state"}')).toBe(1);
    expect(await figure('health_check{check="database"}')).toBe(1);
    expect(await figure('journal_waiting_bytes')).toBeGreaterThanOrEqual(0);
    expect(await figure('requests_without_record')).toBe(0);
  });

  it('shows the gateway itself: its overhead, process, jobs, mails, models and configuration', async () => {
    await ask('test');
    await vi.waitFor(async () => expect(await figure('overhead_seconds_count{endpoint="chat"}')).toBeGreaterThan(0));
    expect(await figure('upstream_keys{upstream="busy"}')).toBe(2);
    expect(await figure('upstream_keys_refused{upstream="busy"}')).toBe(0);
    expect(await figure('model_state{model="test"}')).toBeLessThanOrEqual(3);
    expect(await figure('jobs{state="failed"}')).toBe(0);
    expect(await figure('jobs_waiting_oldest_seconds')).toBeGreaterThanOrEqual(0);
    expect(await figure('process_resident_memory_bytes')).toBeGreaterThan(50_000_000);
    expect(await figure('event_loop_active_seconds_total')).toBeGreaterThan(0);
    expect(await figure('event_loop_lag_seconds{quantile="0.99"}')).toBeGreaterThanOrEqual(0);
    expect(await figure('config_loaded_timestamp_seconds')).toBeGreaterThan(1_700_000_000);
  });

  it('shows a refused gateway.yaml until it is valid again', async () => {
    expect(await figure('config_refused')).toBe(0);
    await gateway.write('models: 7\n');
    await expect(gateway.gateway.reload()).rejects.toThrow('models');
    expect(await figure('config_refused')).toBe(1);
    await gateway.write(yaml());
    await gateway.gateway.reload();
    expect(await figure('config_refused')).toBe(0);
  });

  it('creates no series from what clients send', async () => {
    const before = (await scrape()).text;
    await fetch(`${gateway.url}/v1/made-up-path`, { headers: { authorization: 'Bearer made-up-key' } });
    await ask('made-up-model');
    await vi.waitFor(async () => expect((await scrape()).text).not.toBe(before), { timeout: 10_000 });
    await until('requests_total{endpoint="unknown",model="none",outcome="refused",status="401"}', 1);
    expect((await scrape()).text).not.toContain('made-up');
  });

  it('returns the text format of Prometheus', async () => {
    const { response, text } = await scrape();
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const wrong = text.split('\n').filter((line) => !/^(# (HELP|TYPE) \w+ .+|\w+(\{[^\n]*\})? [\d.e+-]+|)$/.test(line));
    expect(wrong).toEqual([]);
  });

  it('needs the token that a reload sets, and keeps names and counts when the service is renamed', async () => {
    await findDeadRoute();
    try {
      await gateway.write(`${yaml()}operator: { token: ${token} }\nservice: { name: Rumah AI }\n`);
      await gateway.gateway.reload();
      const refused = (await scrape()).response;
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      const opened = await scrape({ authorization: `Bearer ${token}` });
      expect(opened.response.status).toBe(200);
      // Counts survive a reload.
      expect(opened.text).toContain('daypass_route_state{route="broken/m"} 2');
      expect(opened.text).toMatch(/attempts_total\{route="broken\/m",outcome="failed",fault="route"\} 5/);
    } finally {
      await gateway.write(yaml());
      await gateway.gateway.reload();
    }
  });
});

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { Model } from '#core/config/catalog/catalog.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import { cacheStage } from '../../../plugins/cache/stage.ts';
import { chatEndpoint, createExchange } from '../../support/exchange.ts';
import { hostOf, modelOf } from '../format/catalog/catalog-fixture.ts';

type Upstream = (exchange: Exchange) => Reply | Promise<Reply>;

export interface Asked {
  readonly body?: string | object;
  /** The header X-Service-Cache. */
  readonly seconds?: string | undefined;
  readonly account?: string;
  readonly endpoint?: Endpoint;
  readonly headers?: Record<string, string>;
  readonly params?: Record<string, string>;
  readonly query?: string;
}

export const outcome: Outcome = {
  kind: 'answered',
  status: 200,
  error: undefined,
  bytesSent: 2,
  duration: 1,
  firstByteAfter: 1,
};

export const whole = (body: string, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body,
});

export const stream = (body: Readable): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body,
});

export function exchangeOf({
  body = { model: 'm' },
  seconds = '10',
  account = 'a',
  endpoint = chatEndpoint,
  headers = {},
  params = {},
  query = '',
}: Asked = {}): Exchange {
  const exchange = createExchange({
    endpoint,
    body,
    params,
    query,
    headers: { ...headers, 'x-service-cache': seconds },
  });
  exchange.set(principal, { accountId: account, keyId: 'k', keyHint: 'dp-…', limits: undefined, requestCount: 0 });
  return exchange;
}

/** The cache in front of an upstream that a test can script; its store is memory, new in each test. */
export class CacheFixture {
  /** Epoch ms. */
  clock = 0;
  shared!: Shared;
  pipeline!: Pipeline;
  warn = vi.fn<(message: string) => void>();
  logged = vi.fn<(message: string, error?: unknown) => void>();
  /** Counts its answers: `{"n":1}`. */
  upstream = vi.fn<Upstream>();

  /** A fixture for the tests of the file that asks for it. */
  static use(): CacheFixture {
    const fixture = new CacheFixture();
    beforeEach(async () => {
      fixture.clock = 1_800_000_000_000;
      let count = 0;
      fixture.upstream = vi.fn<Upstream>(() => whole(`{"n":${++count}}`));
      await fixture.open(new MemoryShared(() => fixture.clock));
    });
    afterEach(() => void vi.useRealTimers());
    return fixture;
  }

  /** Puts the cache on another store. @param models of the catalog; `alias` is an alias of the first */
  async open(store: Shared, models: readonly Model[] = [modelOf('m')]): Promise<void> {
    const { catalog } = hostOf(models);
    this.shared = store;
    this.warn = vi.fn<(message: string) => void>();
    this.logged = vi.fn<(message: string, error?: unknown) => void>();
    const log: Host['log'] = { info: () => undefined, warn: this.warn, error: this.logged };
    const stage = await cacheStage.create({ max_age: 100, max_bytes: 1_000 }, { shared: store, catalog, log } as Host);
    const answer = { enter: (exchange: Exchange) => () => this.upstream(exchange) };
    this.pipeline = new Pipeline(
      [
        { name: 'cache', stage },
        { name: 'upstream', stage: answer },
      ],
      log,
    );
  }

  /** Sends a request through to its end, and reads the answer. */
  async ask(asked: Asked = {}) {
    const exchange = exchangeOf(asked);
    const { pipeline } = this;
    pipeline.start(exchange);
    const { body, ...reply } = await pipeline.answer(exchange);
    const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? '');
    await pipeline.finish(exchange, outcome);
    return { ...reply, text: bytes.toString(), cache: reply.headers['x-service-cache'], exchange };
  }

  /** Begins a request and waits until the upstream is asked. */
  async lead(asked: Asked = {}) {
    const reached = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Reply>();
    this.upstream.mockImplementationOnce(() => {
      reached.resolve();
      return answer.promise;
    });
    const exchange = exchangeOf(asked);
    this.pipeline.start(exchange);
    const reply = this.pipeline.answer(exchange);
    await reached.promise;
    return { exchange, reply, answer };
  }

  /** Resolves when somebody waits for a leader. */
  someoneWaits(): Promise<void> {
    return this.allWait(1);
  }

  /** Resolves when so many wait for a leader. */
  allWait(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { events } = this.shared;
    const subscribe = events.subscribe.bind(events);
    let waiting = 0;
    vi.spyOn(events, 'subscribe').mockImplementation(async (...parameters) => {
      const end = await subscribe(...parameters);
      if (++waiting === count) resolve();
      return end;
    });
    return promise;
  }

  /** From now on the upstream answers nobody before so many ask at once; resolves when they do. */
  upstreamHolds(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let asking = 0;
    this.upstream.mockImplementation(async () => {
      if (++asking === count) resolve();
      await promise;
      return whole('{"own":true}');
    });
    return promise;
  }

  /** The next to ask makes the answer. */
  async expectNothingKept(): Promise<void> {
    this.upstream.mockImplementation(() => whole('{"fine":true}'));
    expect(await this.ask()).toMatchObject({ cache: 'miss', text: '{"fine":true}' });
  }
}

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { entitlement, principal, rateLimitState, type RateLimits, slotWait, slotWaited } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Outcome, Stage } from '#core/gateway/pipeline/stage.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { type Limiter, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { authStage } from '../../plugins/auth/stage.ts';
import { planStage } from '../../plugins/plan/stage.ts';
import { formatDuration } from '../../plugins/rate-limit/headers.ts';
import type { RateLimitOptions } from '../../plugins/rate-limit/options.ts';
import { rateLimitStage } from '../../plugins/rate-limit/stage.ts';
import { mistakesIn, readYaml } from '../core/business/accounts/yaml-fixture.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../support/exchange.ts';
import { descriptors } from '../support/formats.ts';

const messagesEndpoint: Endpoint = {
  ...chatEndpoint,
  name: 'messages',
  path: '/v1/messages',
  format: descriptors.messages,
};
const countTokensEndpoint: Endpoint = {
  ...messagesEndpoint,
  name: 'count_tokens',
  path: '/v1/messages/count_tokens',
  isMetered: false,
};
const ofCalls = { limit: 6, period: 60, burst: 2, concurrent: 2 };
const ofOthers = { limit: 12, period: 60, burst: 3 };
const common: RateLimitOptions = { ...ofCalls, other: ofOthers };
const ok: Reply = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
const outcome: Outcome = {
  kind: 'answered',
  status: 200,
  error: undefined,
  bytesSent: 2,
  duration: 1,
  firstByteAfter: 1,
};

let clock: number;
/** Ms by which the wall clock was set. */
let step: number;
let host: Host;
let stage: Stage;
let warn: ReturnType<typeof vi.fn<(message: string) => void>>;
let info: ReturnType<typeof vi.fn<(message: string) => void>>;

beforeEach(async () => {
  clock = Date.UTC(2027, 0, 1);
  step = 0;
  await open(common);
});

async function open(options: RateLimitOptions, limiter?: Limiter): Promise<void> {
  const shared = new MemoryShared(() => clock);
  const kept = new Map<string, unknown>();
  warn = vi.fn<(message: string) => void>();
  info = vi.fn<(message: string) => void>();
  const parts: Partial<Host> = {
    service: { contact: 'mailto:help@gateway.example' } as Host['service'],
    shared: limiter === undefined ? shared : Object.assign(shared, { limiter }),
    log: { info, warn, error: () => undefined },
    now: () => clock + step,
    monotonic: () => clock,
    keep: <T extends object>(key: string, create: () => T): T => {
      if (!kept.has(key)) kept.set(key, create());
      return kept.get(key) as T;
    },
  };
  host = parts as Host;
  stage = await rateLimitStage.create(options, host);
}

function exchangeOf(
  key = 'key',
  { endpoint = chatEndpoint, limits }: { endpoint?: Endpoint; limits?: RateLimits } = {},
) {
  const exchange = createExchange({ endpoint });
  exchange.set(principal, { accountId: 'a', keyId: key, keyHint: 'dp-…', limits, requestCount: 0 });
  return exchange;
}

/** Sends a request that stays under way. */
async function send(...of: Parameters<typeof exchangeOf>): Promise<Exchange> {
  const exchange = exchangeOf(...of);
  await stage.enter?.(exchange);
  return exchange;
}

async function refusal(...of: Parameters<typeof exchangeOf>): Promise<GatewayError> {
  try {
    await stage.enter?.(exchangeOf(...of));
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('the request is let in');
}

const finish = (exchange: Exchange) => stage.done?.(exchange, outcome);
const headersOf = async (exchange: Exchange) => ((await stage.leave?.(exchange, ok)) ?? ok).headers;

describe('rate-limit options', () => {
  const known = { stages: [authStage, rateLimitStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('have defaults', () => {
    const other = { limit: 600, period: 60, burst: 100 };
    expect(read('rate-limit')).toEqual({ limit: 60, period: 60, burst: 20, concurrent: 8, other });
  });

  it('can be set one by one', () => {
    expect(read('rate-limit: { burst: 5, period: 0x10, other: { burst: 6 } }')).toEqual({
      limit: 60,
      period: 16,
      burst: 5,
      concurrent: 8,
      other: { limit: 600, period: 60, burst: 6 },
    });
  });

  it.each(['limit', 'burst', 'concurrent'])('refuse a %s that is not a positive integer', (name) => {
    for (const value of ['0', '-1', '1.5', 'many', 'null', '1e12'])
      expect(mistakes(`auth, rate-limit: { ${name}: ${value} }`)).toEqual([expect.stringContaining(name)]);
  });

  it.each(['0', '0.5', '86401', 'minute'])('refuse a period of %s', (value) => {
    expect(mistakes(`auth, rate-limit: { period: ${value} }`)).toEqual([expect.stringContaining('period')]);
  });

  it('refuse unknown names', () => {
    expect(mistakes('auth, rate-limit: { brust: 5 }')).toEqual([expect.stringContaining('did you mean "burst"')]);
    expect(mistakes('auth, rate-limit: { other: { concurrent: 5 } }')).toEqual([expect.stringContaining('concurrent')]);
  });

  it('need a stage that identifies the caller before them', () => {
    expect(mistakes('rate-limit, auth')).toEqual([expect.stringContaining('principal')]);
  });

  it('need the plan before them, whose limits count', () => {
    expect(
      mistakesIn('pipeline: [auth, rate-limit, plan]', { stages: [authStage, planStage, rateLimitStage] }),
    ).toEqual([expect.stringContaining('put plan before rate-limit')]);
  });
});

describe('a request within the limits', () => {
  it('passes synchronously when the state is in memory', () => {
    expect(stage.enter?.(exchangeOf())).toBeUndefined();
  });

  it('has the rate limit headers of OpenAI', async () => {
    expect(await headersOf(await send())).toEqual({
      'content-type': 'application/json',
      'x-ratelimit-limit-requests': '6',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '10s',
    });
  });

  it('has the rate limit headers of Anthropic', async () => {
    expect(await headersOf(await send('key', { endpoint: messagesEndpoint }))).toEqual({
      'content-type': 'application/json',
      'anthropic-ratelimit-requests-limit': '6',
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-ratelimit-requests-reset': '2027-01-01T00:00:10Z',
    });
  });

  it('passes its state to later stages', async () => {
    expect((await send()).get(rateLimitState)).toEqual({ ...ofCalls, remaining: 1, resetAfter: 10 });
  });
});

describe('the time until the limit resets', () => {
  it.each([
    [0, '0s'],
    [0.0101, '11ms'],
    [0.999, '999ms'],
    [0.9999, '1s'],
    [1, '1s'],
    [59.2, '1m0s'],
    [61, '1m1s'],
    [360, '6m0s'],
    [3_600, '1h0m0s'],
    [3_725, '1h2m5s'],
  ])('is formatted as OpenAI does: %d is %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('a request over the rate limit', () => {
  it('is refused with 429, the limit and the seconds to wait', async () => {
    await finish(await send());
    await finish(await send());
    clock += 2_500;
    const error = await refusal();
    expect(error.code).toBe('rate_limited');
    expect(error.status(descriptors.chat)).toBe(429);
    expect(error.message).toBe(
      'Rate limit reached: 6 requests per 60 seconds, at most 2 at once. Try again in 8 seconds. For a higher limit, contact help@gateway.example.',
    );
    expect(error.details.retryAfter).toBeCloseTo(7.5, 6);
    clock += 7_000;
    expect((await refusal()).message).toMatch(/Try again in 1 second\. For/);
    expect(error.details.headers).toEqual({
      'x-ratelimit-limit-requests': '6',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '18s',
    });
  });

  it('is refused in the dialect of Anthropic as well', async () => {
    await finish(await send());
    await finish(await send());
    const { details } = await refusal('key', { endpoint: messagesEndpoint });
    expect(details.headers).toEqual({
      'anthropic-ratelimit-requests-limit': '6',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2027-01-01T00:00:20Z',
    });
  });

  it('passes after Retry-After', async () => {
    await finish(await send());
    await finish(await send());
    clock += ((await refusal()).details.retryAfter ?? 0) * 1000;
    await send();
    await refusal();
  });

  it('does not affect other keys', async () => {
    await finish(await send());
    await finish(await send());
    await refusal();
    await send('another');
  });
});

describe('a request over the concurrency limit', () => {
  beforeEach(() => open({ ...common, limit: 600, burst: 100 }));

  it('is refused with the limit', async () => {
    await send();
    await send();
    const error = await refusal();
    expect(error.code).toBe('rate_limited');
    expect(error.message).toBe(
      'Concurrency limit reached: 2 requests in flight. Wait for one to finish. For a higher limit, contact help@gateway.example.',
    );
    expect(error.details.retryAfter).toBe(1);
    expect(error.details.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '98' });
  });

  it.each(['answered', 'refused', 'failed', 'aborted'] as const)('passes once another one is %s', async (kind) => {
    const first = await send();
    await send();
    await stage.done?.(first, { ...outcome, kind });
    await send();
    await refusal();
  });

  it('gets the slot of a finished request once, however often that ends', async () => {
    const first = await send();
    await send();
    await finish(first);
    await finish(first);
    await send();
    await refusal();
  });

  it('ends without holding a slot', async () => {
    const held = await send();
    await send();
    const refused = exchangeOf();
    expect(() => stage.enter?.(refused)).toThrow(GatewayError);
    await finish(refused);
    await refusal();
    await finish(held);
    await send();
  });

  it('waits for the end of another one where its client waits on a connection of its own', async () => {
    const first = await send();
    await send();
    const waiting = exchangeOf();
    waiting.set(slotWait, 60_000);
    const entered = stage.enter?.(waiting);
    clock += 3_000;
    await finish(first);
    await entered;
    expect(waiting.get(slotWaited)).toBe(3_000);
    expect(waiting.get(rateLimitState).concurrent).toBe(2);
    await refusal();
    await finish(waiting);
    await send();
  });

  it.each([undefined, 600_000])(
    'gets an error within a minute where the store hangs, with a wait of %s ms',
    async (wait) => {
      vi.useFakeTimers();
      try {
        const store = new MemoryShared(() => clock).limiter;
        await open(common, Object.assign(store, { take: () => new Promise<never>(() => undefined) }));
        const exchange = exchangeOf();
        if (wait !== undefined) exchange.set(slotWait, wait);
        const pipeline = new Pipeline([{ name: 'rate-limit', stage }], host.log);
        const answered = pipeline.answer(exchange);
        await vi.advanceTimersByTimeAsync(62_000);
        expect(exchange.isAborted).toBe(true);
        expect(await answered).toMatchObject({ status: 500 });
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it('releases a slot that it gets after its end', async () => {
    const store = new MemoryShared(() => clock).limiter;
    const given = Promise.withResolvers<void>();
    await open(
      { ...common, burst: 100 },
      {
        take: async (...parameters) => {
          await given.promise;
          return store.take(...parameters);
        },
        instances: 1,
        peek: (...parameters) => store.peek(...parameters),
        release: (...parameters) => store.release(...parameters),
      },
    );
    const left = exchangeOf();
    const entering = stage.enter?.(left);
    left.abort(new ClientGone());
    await stage.done?.(left, { ...outcome, kind: 'aborted' });
    given.resolve();
    await entering;
    await send();
    await send();
    await refusal();
  });

  it('can end before it has entered', () => {
    expect(() => finish(exchangeOf())).not.toThrow();
  });
});

describe('a key with its own limits', () => {
  it('replaces the configured limits one by one', async () => {
    const exchange = await send('key', { limits: { burst: 5, concurrent: undefined } });
    expect(exchange.get(rateLimitState)).toMatchObject({ limit: 6, period: 60, burst: 5, concurrent: 2, remaining: 4 });
  });

  it('is refused by its own limits', async () => {
    const limits = { limit: 1, period: 3_600, burst: 1, concurrent: 9 };
    await send('key', { limits });
    const error = await refusal('key', { limits });
    expect(error.message).toContain('Rate limit reached: 1 request per 3600 seconds');
    expect(error.details.retryAfter).toBe(3_600);
  });
});

describe('a running plan with limits', () => {
  const limits = { limit: 100, burst: 7 };
  const sendWith = async (own: RateLimits | undefined, endpoint = chatEndpoint) => {
    const exchange = exchangeOf('key', { endpoint, ...(own && { limits: own }) });
    exchange.set(entitlement, { period: undefined, limits, secondsLeft: 1 });
    await stage.enter?.(exchange);
    return exchange.get(rateLimitState);
  };

  it('replaces the configured limits one by one', async () => {
    expect(await sendWith(undefined)).toMatchObject({ limit: 100, period: 60, burst: 7, concurrent: 2, remaining: 6 });
  });

  it('gives way to the limits of the key', async () => {
    expect(await sendWith({ burst: 3 })).toMatchObject({ limit: 100, burst: 3 });
  });

  it('widens the allowance of other requests', async () => {
    expect((await sendWith(undefined, modelsEndpoint)).other).toMatchObject({ limit: 100, burst: 7 });
  });
});

describe('a request that is not a model call', () => {
  const list = { endpoint: modelsEndpoint };

  it.each([
    ['a list', modelsEndpoint],
    ['a count of tokens', countTokensEndpoint],
    ['an unknown path', { ...modelsEndpoint, name: 'unknown', path: '/v1/' }],
  ])('takes from the other allowance only: %s', async (_name, endpoint) => {
    const exchange = await send('key', { endpoint });
    expect(exchange.get(rateLimitState)).toEqual({
      ...ofCalls,
      remaining: 2,
      resetAfter: 0,
      other: { ...ofOthers, remaining: 2, resetAfter: 5 },
    });
    expect((await send()).get(rateLimitState).remaining).toBe(1);
  });

  it('has the rate limit headers of the other allowance', async () => {
    expect(await headersOf(await send('key', list))).toMatchObject({
      'x-ratelimit-limit-requests': '12',
      'x-ratelimit-remaining-requests': '2',
      'x-ratelimit-reset-requests': '5s',
    });
    expect(await headersOf(await send('key', { endpoint: countTokensEndpoint }))).toMatchObject({
      'anthropic-ratelimit-requests-limit': '12',
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-ratelimit-requests-reset': '2027-01-01T00:00:10Z',
    });
  });

  it('passes when the limit of model calls is used up, and with any number in flight', async () => {
    await send();
    await send();
    await refusal();
    for (const remaining of [2, 1, 0])
      expect((await send('key', list)).get(rateLimitState)).toMatchObject({ remaining: 0, other: { remaining } });
  });

  it('is refused over the other allowance, without affecting model calls', async () => {
    for (let sent = 0; sent < 3; sent++) await send('key', list);
    const error = await refusal('key', list);
    expect(error.code).toBe('rate_limited');
    expect(error.message).toBe(
      'Rate limit for requests other than model calls reached: 12 requests per 60 seconds, at most 3 at once. Try again in 5 seconds. For a higher limit, contact help@gateway.example.',
    );
    expect(error.details.retryAfter).toBe(5);
    expect(error.details.headers).toMatchObject({
      'x-ratelimit-limit-requests': '12',
      'x-ratelimit-remaining-requests': '0',
    });
    await send();
    clock += 5_000;
    await send('key', list);
    await refusal('key', list);
  });

  it('passes 25 times at once by default', async () => {
    await open(
      readYaml('pipeline: [auth, rate-limit]', { stages: [authStage, rateLimitStage] }).stages[1]
        ?.options as RateLimitOptions,
    );
    for (let sent = 0; sent < 25; sent++) await send('key', { endpoint: countTokensEndpoint });
  });

  it('has at least the limits of the key’s model calls', async () => {
    const own = { limit: 1_000, period: 10, burst: 50 };
    const exchange = await send('key', { ...list, limits: own });
    expect(exchange.get(rateLimitState).other).toMatchObject({ ...own, remaining: 49 });
  });

  it('keeps the wider of two bursts and the faster of two rates', async () => {
    const slow = await send('slow', { ...list, limits: { limit: 100, period: 3_600, burst: 50 } });
    expect(slow.get(rateLimitState).other).toMatchObject({ limit: 12, period: 60, burst: 50 });
    const fast = await send('fast', { ...list, limits: { limit: 100, period: 1, burst: 1 } });
    expect(fast.get(rateLimitState).other).toMatchObject({ limit: 100, period: 1, burst: 3 });
  });
});

describe('rate limits while the shared store is unavailable', () => {
  let isAway: boolean;
  let asked: number;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    isAway = true;
    asked = 0;
    const store = new MemoryShared(() => clock).limiter;
    const ask = async <T>(work: () => T): Promise<T> => {
      asked++;
      if (isAway) throw new SharedUnavailable('the shared store did not answer');
      return work();
    };
    await open(common, {
      instances: 1,
      take: (key, limits) => ask(() => store.take(key, limits) as Awaited<ReturnType<Limiter['take']>>),
      peek: (key, limits) => ask(() => store.peek(key, limits) as Awaited<ReturnType<Limiter['peek']>>),
      release: (key, lease) => store.release(key, lease),
    });
    return () => void vi.useRealTimers();
  });

  it('apply to this instance', async () => {
    await finish(await send());
    await finish(await send());
    expect((await refusal()).details.retryAfter).toBe(10);
  });

  it('are logged once, and once when the store is back', async () => {
    await finish(await send());
    vi.advanceTimersByTime(1_001);
    await finish(await send());
    expect(asked).toBe(2);
    expect(warn.mock.calls).toEqual([
      ['rate limits apply to each instance separately: the shared store did not answer'],
    ]);
    isAway = false;
    vi.advanceTimersByTime(1_001);
    await finish(await send());
    await finish(await send());
    expect(info.mock.calls).toEqual([['rate limits are shared between instances again']]);
  });

  it('go on from where the store was, so that an outage renews no allowance', async () => {
    isAway = false;
    await finish(await send());
    isAway = true;
    await finish(await send());
    await refusal();
  });

  it('are shared out among the instances', async () => {
    await open({ ...common, burst: 6, concurrent: 3 }, { ...host.shared.limiter, instances: 3 });
    const first = await send();
    expect((await refusal()).message).toContain('Concurrency limit');
    await finish(first);
    await finish(await send());
    expect((await refusal()).details.retryAfter).toBe(30);
  });

  it('count slots that the store granted before', async () => {
    isAway = false;
    await open({ ...common, burst: 100, concurrent: 1 }, host.shared.limiter);
    const held = await send();
    isAway = true;
    await refusal();
    await finish(held);
    await send();
  });

  it('do not hide a programming error', async () => {
    vi.spyOn(host.shared.limiter, 'take').mockRejectedValue(new TypeError('no such script'));
    await expect(stage.enter?.(exchangeOf())).rejects.toThrow(TypeError);
  });

  it('release the slots that they granted', async () => {
    await open({ ...common, burst: 100 }, host.shared.limiter);
    const first = await send();
    await send();
    await refusal();
    await finish(first);
    await send();
  });

  it('are given back as soon when the wall clock is set back by an hour', async () => {
    await finish(await send());
    await finish(await send());
    step = -3_600_000;
    clock += ((await refusal()).details.retryAfter ?? 0) * 1000;
    await finish(await send());
  });

  it('survive a reload', async () => {
    await finish(await send());
    await finish(await send());
    stage = await rateLimitStage.create(common, host);
    await refusal();
  });
});

describe('an unidentified caller', () => {
  it('passes on public endpoints', async () => {
    const exchange = createExchange({ endpoint: { ...modelsEndpoint, isPublic: true } });
    expect(stage.enter?.(exchange)).toBeUndefined();
    expect(await headersOf(exchange)).toEqual(ok.headers);
  });
});

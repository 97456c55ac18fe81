import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientGone, GatewayError } from '#core/errors/table.ts';
import { principal, rateLimitState, type RateLimits } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import type { Endpoint, Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import type { Outcome, Stage } from '#core/pipeline/stage.ts';
import { MemoryShared } from '#core/shared/memory.ts';
import { type Limiter, type Limits, SharedUnavailable } from '#core/shared/shared.ts';
import { auth } from '../../plugins/auth/stage.ts';
import { formatDuration } from '../../plugins/rate-limit/headers.ts';
import { rateLimitStage } from '../../plugins/rate-limit/stage.ts';
import { mistakesIn, readYaml } from '../core/accounts/yaml-fixture.ts';
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
const common: Limits = { limit: 6, period: 60, burst: 2, concurrent: 2 };
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
let host: Host;
let stage: Stage;
let warn: ReturnType<typeof vi.fn<(message: string) => void>>;
let info: ReturnType<typeof vi.fn<(message: string) => void>>;

beforeEach(async () => {
  clock = Date.UTC(2027, 0, 1);
  await open(common);
});

async function open(options: Limits, limiter?: Limiter): Promise<void> {
  const shared = new MemoryShared(() => clock);
  const kept = new Map<string, unknown>();
  warn = vi.fn<(message: string) => void>();
  info = vi.fn<(message: string) => void>();
  const parts: Partial<Host> = {
    shared: limiter === undefined ? shared : Object.assign(shared, { limiter }),
    log: { info, warn, error: () => undefined },
    now: () => clock,
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
  exchange.set(principal, { accountId: 'a', keyId: key, keyHint: 'dp_…', limits, requestCount: 0 });
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

describe('the options of rate-limit', () => {
  const known = { stages: [auth, rateLimitStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('have a default each', () => {
    expect(read('rate-limit')).toEqual({ limit: 60, period: 60, burst: 20, concurrent: 8 });
  });

  it('may be given one by one', () => {
    expect(read('rate-limit: { burst: 5, period: 0x10 }')).toEqual({ limit: 60, period: 16, burst: 5, concurrent: 8 });
  });

  it.each(['limit', 'burst', 'concurrent'])('refuse a %s that is no whole number above zero', (name) => {
    for (const value of ['0', '-1', '1.5', 'many', 'null', '1e12'])
      expect(mistakes(`auth, rate-limit: { ${name}: ${value} }`)).toEqual([expect.stringContaining(name)]);
  });

  it.each(['0', '0.5', '86401', 'minute'])('refuse a period of %s', (value) => {
    expect(mistakes(`auth, rate-limit: { period: ${value} }`)).toEqual([expect.stringContaining('period')]);
  });

  it('refuse names that do not exist', () => {
    expect(mistakes('auth, rate-limit: { brust: 5 }')).toEqual([expect.stringContaining('did you mean "burst"')]);
  });

  it('are refused before a stage that knows the caller', () => {
    expect(mistakes('rate-limit, auth')).toEqual([expect.stringContaining('principal')]);
  });
});

describe('a request within its limits', () => {
  it('is let in without a promise when the state is in memory', () => {
    expect(stage.enter?.(exchangeOf())).toBeUndefined();
  });

  it('carries the headers that OpenAI SDKs know', async () => {
    expect(await headersOf(await send())).toEqual({
      'content-type': 'application/json',
      'x-ratelimit-limit-requests': '6',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '10s',
    });
  });

  it('carries the headers that Anthropic SDKs know', async () => {
    expect(await headersOf(await send('key', { endpoint: messagesEndpoint }))).toEqual({
      'content-type': 'application/json',
      'anthropic-ratelimit-requests-limit': '6',
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-ratelimit-requests-reset': '2027-01-01T00:00:10Z',
    });
  });

  it('leaves its state to the stages behind', async () => {
    expect((await send()).get(rateLimitState)).toEqual({ ...common, remaining: 1, resetAfter: 10 });
  });
});

describe('the time until a limit is free again', () => {
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
  ])('is written as OpenAI does: %d is %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('a request beyond the rate', () => {
  it('is refused with the seconds to wait and what the limit is', async () => {
    await finish(await send());
    await finish(await send());
    clock += 2_500;
    const error = await refusal();
    expect(error.code).toBe('rate_limited');
    expect(error.status(descriptors.chat)).toBe(429);
    expect(error.message).toBe('this key may send 6 requests in 60 seconds, 2 of them at once; try again in 8 seconds');
    expect(error.details.retryAfter).toBeCloseTo(7.5, 6);
    clock += 7_000;
    expect((await refusal()).message).toMatch(/try again in 1 second$/);
    expect(error.details.headers).toEqual({
      'x-ratelimit-limit-requests': '6',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '18s',
    });
  });

  it('is refused in the words of the other dialect too', async () => {
    await finish(await send());
    await finish(await send());
    const { details } = await refusal('key', { endpoint: messagesEndpoint });
    expect(details.headers).toEqual({
      'anthropic-ratelimit-requests-limit': '6',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2027-01-01T00:00:20Z',
    });
  });

  it('passes when it has waited as long as it was told', async () => {
    await finish(await send());
    await finish(await send());
    clock += ((await refusal()).details.retryAfter ?? 0) * 1000;
    await send();
    await refusal();
  });

  it('does not hold up other keys', async () => {
    await finish(await send());
    await finish(await send());
    await refusal();
    await send('another');
  });
});

describe('a request beyond the number that may be under way', () => {
  beforeEach(() => open({ ...common, limit: 600, burst: 100 }));

  it('is refused and says so', async () => {
    await send();
    await send();
    const error = await refusal();
    expect(error.code).toBe('rate_limited');
    expect(error.message).toBe('2 requests of this key are under way, as many as it may have; wait for one to end');
    expect(error.details.retryAfter).toBe(1);
    expect(error.details.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '98' });
  });

  it.each(['answered', 'refused', 'failed', 'aborted'] as const)('passes when another one is %s', async (kind) => {
    const first = await send();
    await send();
    await stage.done?.(first, { ...outcome, kind });
    await send();
    await refusal();
  });

  it('passes only once for one that is over, however often it ends', async () => {
    const first = await send();
    await send();
    await finish(first);
    await finish(first);
    await send();
    await refusal();
  });

  it('is over without having held anything', async () => {
    const held = await send();
    await send();
    const refused = exchangeOf();
    expect(() => stage.enter?.(refused)).toThrow(GatewayError);
    await finish(refused);
    await refusal();
    await finish(held);
    await send();
  });

  it('gives back a slot that it gets after it is over', async () => {
    const store = new MemoryShared(() => clock).limiter;
    const given = Promise.withResolvers<void>();
    await open(
      { ...common, burst: 100 },
      {
        take: async (...parameters) => {
          await given.promise;
          return store.take(...parameters);
        },
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

  it('may end before it has entered', () => {
    expect(() => finish(exchangeOf())).not.toThrow();
  });
});

describe('a key with limits of its own', () => {
  it('has them in the place of the common ones, one by one', async () => {
    const exchange = await send('key', { limits: { burst: 5, concurrent: undefined } });
    expect(exchange.get(rateLimitState)).toMatchObject({ limit: 6, period: 60, burst: 5, concurrent: 2, remaining: 4 });
  });

  it('is refused by them', async () => {
    const limits = { limit: 1, period: 3_600, burst: 1, concurrent: 9 };
    await send('key', { limits });
    const error = await refusal('key', { limits });
    expect(error.message).toContain('this key may send 1 requests in 3600 seconds');
    expect(error.details.retryAfter).toBe(3_600);
  });
});

describe('a request that uses no plan', () => {
  it.each([
    ['a list', modelsEndpoint],
    ['a count of tokens', countTokensEndpoint],
  ])('does not count when it is %s', async (_name, endpoint) => {
    for (let count = 0; count < 10; count++) {
      const exchange = await send('key', { endpoint });
      expect(exchange.get(rateLimitState)).toEqual({ ...common, remaining: 2, resetAfter: 0 });
      expect(await stage.leave?.(exchange, ok)).toBeUndefined();
    }
    await send();
  });

  it('is let in when the limit is used up, and sees where it stands', async () => {
    await send();
    await send();
    const exchange = await send('key', { endpoint: modelsEndpoint });
    expect(exchange.get(rateLimitState)).toEqual({ ...common, remaining: 0, resetAfter: 20 });
  });
});

describe('limits while the shared store is away', () => {
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
      take: (key, limits) => ask(() => store.take(key, limits) as Awaited<ReturnType<Limiter['take']>>),
      peek: (key, limits) => ask(() => store.peek(key, limits) as Awaited<ReturnType<Limiter['peek']>>),
      release: (key, lease) => store.release(key, lease),
    });
    return () => void vi.useRealTimers();
  });

  it('hold for this instance', async () => {
    await finish(await send());
    await finish(await send());
    expect((await refusal()).details.retryAfter).toBe(10);
  });

  it('are reported once, and once when they are shared again', async () => {
    await finish(await send());
    vi.advanceTimersByTime(1_001);
    await finish(await send());
    expect(asked).toBe(2);
    expect(warn.mock.calls).toEqual([['limits hold for each instance alone: the shared store did not answer']]);
    isAway = false;
    vi.advanceTimersByTime(1_001);
    await finish(await send());
    await finish(await send());
    expect(info.mock.calls).toEqual([['limits are shared again']]);
  });

  it('do not ask a store that has just failed', async () => {
    await finish(await send());
    await finish(await send());
    await refusal();
    expect(asked).toBe(1);
  });

  it('ask a store that has failed with one request at a time', async () => {
    await open({ ...common, burst: 100, concurrent: 100 }, host.shared.limiter);
    await send();
    vi.advanceTimersByTime(1_001);
    asked = 0;
    await Promise.all(Array.from({ length: 10 }, () => send()));
    expect(asked).toBe(1);
  });

  it('do not hide a mistake of ours', async () => {
    vi.spyOn(host.shared.limiter, 'take').mockRejectedValue(new TypeError('no such script'));
    await expect(stage.enter?.(exchangeOf())).rejects.toThrow(TypeError);
  });

  it('give back the slots that they have given out', async () => {
    await open({ ...common, burst: 100 }, host.shared.limiter);
    const first = await send();
    await send();
    await refusal();
    await finish(first);
    await send();
  });

  it('outlive a reload', async () => {
    await finish(await send());
    await finish(await send());
    stage = await rateLimitStage.create(common, host);
    await refusal();
  });
});

describe('a caller whom nobody knows', () => {
  it('is let in where the endpoint is public', async () => {
    const exchange = createExchange({ endpoint: { ...modelsEndpoint, isPublic: true } });
    expect(stage.enter?.(exchange)).toBeUndefined();
    expect(await headersOf(exchange)).toEqual(ok.headers);
  });
});

import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { changeLimits, rotateKey } from '#core/business/accounts/account-key.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { clearReplacedDigests } from '#core/business/accounts/replaced-keys.ts';
import { principal, type Principal, unauthenticated } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { authStage } from '../../plugins/auth/stage.ts';
import { createExchange, createGauge, createStageHost, freeCall } from '../core/business/accounts/fixture.ts';
import { mistakesIn, readYaml } from '../core/business/accounts/yaml-fixture.ts';
import { createTestDatabase } from '../support/database.ts';

let database: Database;
let host: Host & AsyncDisposable;
let gauge: { queries: number; failure: Error | undefined };
let stage: Stage;
let key: string;
let accountId: string;
/** Failures of one address before it is refused. */
const failures = { limit: 60, period: 60 };

beforeAll(async () => {
  database = await createTestDatabase();
  ({ key, accountId } = await createAccount(database, 'dp', { name: 'Ani', limits: { limit: 5 } }));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  const gauged = createGauge(database);
  gauge = gauged.gauge;
  host = createStageHost(gauged.gauged);
  stage = await authStage.create({ cache_seconds: 60, failures }, host);
});
afterEach(async () => {
  await host[Symbol.asyncDispose]();
});

const bearer = (credential: string): IncomingHttpHeaders => ({ authorization: `Bearer ${credential}` });

const refusalText =
  'The Daypass API key is missing or invalid. Send yours as "Authorization: Bearer dp-…", never in the URL. Get it at https://gateway.example/account/key, or set up your tools with: curl -fsSL https://gateway.example/setup.sh | sh';

/** Lets a request in, or throws what refuses it. */
async function enter(headers: IncomingHttpHeaders, query = '', remoteAddress = '127.0.0.1'): Promise<Principal> {
  const exchange = createExchange(headers, { query, remoteAddress });
  await stage.enter?.(exchange);
  return exchange.get(principal);
}

async function refusalOf(...request: Parameters<typeof enter>): Promise<GatewayError> {
  const error: unknown = await enter(...request).catch((thrown: unknown) => thrown);
  if (error instanceof GatewayError) return error;
  throw new Error('the request is let in');
}

/** Long before what is remembered of it expires, which takes a minute. */
const refusedSoon = async (old: string) => {
  await vi.waitFor(() => expect(refusalOf(bearer(old))).resolves.toMatchObject({ code: 'invalid_api_key' }), {
    timeout: 15_000,
  });
};

const readOptions = (text: string) => readYaml(`pipeline: [${text}]`, { stages: [authStage] }).stages[0]?.options;
const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, { stages: [authStage] });

describe('auth options', () => {
  it('the auth options have defaults', () => {
    expect(readOptions('auth')).toEqual({ cache_seconds: 60, failures });
  });

  it('caching of keys can be turned off', () => {
    expect(readOptions('auth: { cache_seconds: 0 }')).toEqual({ cache_seconds: 0, failures });
  });

  it.each(['-1', '3601', '1.5', 'soon'])('a cache of %s seconds is refused', (value) => {
    expect(mistakes(`auth: { cache_seconds: ${value} }`)).toEqual([expect.stringContaining('cache_seconds')]);
  });

  it('failures can be limited to one a second', () => {
    const strict = { limit: 1, period: 1 };
    expect(readOptions('auth: { failures: { limit: 1, period: 1 } }')).toEqual({ cache_seconds: 60, failures: strict });
  });

  it('an unknown auth option is refused with a suggestion', () => {
    expect(mistakes('auth: { cache_second: 5 }')).toEqual([expect.stringContaining('did you mean "cache_seconds"')]);
  });
});

describe('a caller', () => {
  it('a caller is identified by Authorization, x-api-key and x-goog-api-key', async () => {
    const headers = [bearer(key), { 'x-api-key': key }, { 'x-goog-api-key': key }];
    const callers = await Promise.all(headers.map((each) => enter(each)));
    expect(callers.map((caller) => caller.accountId)).toEqual([accountId, accountId, accountId]);
  });

  it('the principal has hint, limits and count, but not the key', async () => {
    const caller = await enter(bearer(key));
    expect(caller).toEqual({
      accountId,
      keyId: expect.any(String),
      keyHint: `${key.slice(0, 7)}…${key.slice(-4)}`,
      limits: { limit: 5 },
      requestCount: 0,
    });
  });

  it('a caller with a cached key passes synchronously', async () => {
    await enter(bearer(key));
    expect(stage.enter?.(createExchange(bearer(key)))).toBeUndefined();
  });

  it('a key is looked up for every request when keys are not cached', async () => {
    stage = await authStage.create({ cache_seconds: 0, failures }, host);
    for (let request = 0; request < 3; request++) await enter(bearer(key));
    expect(gauge.queries).toBe(3);
  });

  it('a key is looked up once for a hundred concurrent requests', async () => {
    await Promise.all(Array.from({ length: 100 }, () => enter(bearer(key))));
    expect(gauge.queries).toBe(1);
  });

  it('the scheme may be in any case and followed by several spaces', async () => {
    await expect(enter({ authorization: `bEARER   ${key} ` })).resolves.toMatchObject({ accountId });
  });
});

describe('one of several credentials', () => {
  const stale = generateApiKey('dp');

  it.each<[string, () => IncomingHttpHeaders]>([
    ['x-api-key beside the key of a vendor', () => ({ ...bearer(key), 'x-api-key': 'sk-ant-stale' })],
    ['Authorization beside the key of a vendor', () => ({ ...bearer('sk-other'), 'x-api-key': key })],
    ['Authorization beside a stale x-api-key', () => ({ ...bearer(key), 'x-api-key': stale })],
    ['x-api-key beside a stale Authorization', () => ({ ...bearer(stale), 'x-api-key': key })],
    ['x-goog-api-key beside a stale Authorization', () => ({ ...bearer(stale), 'x-goog-api-key': key })],
    [
      'x-goog-api-key beside two stale ones',
      () => ({ ...bearer(stale), 'x-api-key': generateApiKey('dp'), 'x-goog-api-key': key }),
    ],
    ['the same in two headers', () => ({ ...bearer(key), 'x-api-key': key })],
  ])('suffices: %s', async (_name, headers) => {
    await expect(enter(headers())).resolves.toMatchObject({ accountId });
    // Once more, from memory.
    await expect(enter(headers())).resolves.toMatchObject({ accountId });
  });

  it('a valid key in a header suffices despite a stale key in the URL', async () => {
    await expect(enter({ 'x-goog-api-key': key }, `key=${stale}`)).resolves.toMatchObject({ accountId });
  });

  it('keys of several accounts count in the order Authorization, x-api-key, x-goog-api-key', async () => {
    const second = await createAccount(database, 'dp', { name: 'Dewi' });
    const third = await createAccount(database, 'dp', { name: 'Eka' });
    const others = { 'x-api-key': second.key, 'x-goog-api-key': third.key };
    await enter({ 'x-goog-api-key': third.key });
    await expect(enter({ ...others, ...bearer(key) })).resolves.toMatchObject({ accountId });
    await expect(enter(others)).resolves.toMatchObject({ accountId: second.accountId });
  });

  it('several wrong keys are refused once, after a query for valid ones and one for former ones', async () => {
    const error = await refusalOf({
      ...bearer(generateApiKey('dp')),
      'x-api-key': generateApiKey('dp'),
      'x-goog-api-key': generateApiKey('dp'),
    });
    expect(error).toMatchObject({ code: 'invalid_api_key', message: refusalText });
    expect(gauge.queries).toBe(2);
  });

  it('a cached key passes while the database does not respond, whatever the other key is', async () => {
    await enter(bearer(key));
    gauge.failure = new Error('connect ECONNREFUSED');
    await expect(enter({ ...bearer(generateApiKey('dp')), 'x-api-key': key })).resolves.toMatchObject({ accountId });
  });
});

describe('an invalid key', () => {
  const strange: [string, IncomingHttpHeaders][] = [
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['an empty bearer', { authorization: 'Bearer ' }],
    ['an empty x-api-key', { 'x-api-key': '' }],
    ['another scheme', { authorization: `Basic ${Buffer.from('dp-a:b').toString('base64')}` }],
    ['no scheme', { authorization: 'dp-abc' }],
    ['the key of a vendor', bearer('sk-ant-api03-abc')],
    ['the prefix alone', bearer('dp-')],
    ['a key that nobody has', bearer(generateApiKey('dp'))],
    ['a key of another gateway', bearer(generateApiKey('xy'))],
    ['quotes', bearer(`dp-"'\`;--`)],
    ['SQL', bearer(`dp-' or '1'='1`)],
    ['NUL', bearer('dp-\0\0\0')],
    ['Unicode', bearer('dp-ключ🔑\ud800')],
    ['a megabyte', bearer(`dp-${'a'.repeat(1024 * 1024)}`)],
    ['two keys in one header', { 'x-api-key': `${generateApiKey('dp')}, ${generateApiKey('dp')}` }],
  ];

  it.each(strange)('an invalid key is refused like any other: %s', async (_name, headers) => {
    const error = await refusalOf(headers);
    expect(error.code).toBe('invalid_api_key');
    expect(error.message).toBe(refusalText);
    expect(error.details.headers).toEqual({ 'www-authenticate': 'Bearer' });
  });

  it('a key under another scheme than Bearer is refused', async () => {
    expect((await refusalOf({ authorization: `Digest ${key}` })).code).toBe('invalid_api_key');
  });

  it('a key in another case is refused', async () => {
    expect((await refusalOf(bearer(key.toUpperCase()))).code).toBe('invalid_api_key');
  });

  it('a key with a wrong checksum is refused without a query', async () => {
    await Promise.all(strange.map(([, headers]) => refusalOf(headers)));
    // Of the unknown key among them, and whether it is a former one.
    expect(gauge.queries).toBe(2);
  });
});

/** A well-formed key that nobody has. */
const invent = () => bearer(generateApiKey('dp'));

const attack = async (count: number) => {
  for (let sent = 0; sent < count; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, () => refusalOf(invent())));
  }
};

describe('an address whose keys fail', () => {
  // Every second one more failure would be let through, however long the machine takes for a test.
  beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(performance.now()));
  afterEach(() => void vi.restoreAllMocks());

  it('an address over its limit of failures gets 429 with Retry-After', async () => {
    for (let sent = 0; sent < failures.limit; sent++) expect((await refusalOf({})).code).toBe('invalid_api_key');
    const { code, details } = await refusalOf({});
    expect(code).toBe('rate_limited');
    expect(details.retryAfter).toBeGreaterThan(0);
    expect(details.retryAfter).toBeLessThanOrEqual(failures.period / failures.limit);
    expect((await refusalOf(invent())).code).toBe('rate_limited');
  });

  it('a thousand invented keys of an address cause a handful of queries', async () => {
    await attack(100);
    const [before, startedAt] = [gauge.queries, Date.now()];
    const refused: Promise<GatewayError>[] = [];
    for (let sent = 0; sent < 1_000; sent++) {
      refused.push(refusalOf(invent()));
      await new Promise(setImmediate);
    }
    const codes = (await Promise.all(refused)).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['rate_limited']));
    const quarters = (Date.now() - startedAt) / 250;
    expect(gauge.queries - before).toBeLessThanOrEqual(Math.ceil(quarters) + 1);
  });

  it('valid keys of an address over its limit still pass, cached or not', async () => {
    await attack(100);
    expect((await enter(bearer(key))).accountId).toBe(accountId);
    await Promise.all([attack(100), expect(enter(bearer(key))).resolves.toMatchObject({ accountId })]);
  });

  it('failures of one address do not count for another', async () => {
    await attack(100);
    expect((await refusalOf({}, '', '192.0.2.7')).code).toBe('invalid_api_key');
  });

  it('an address over its limit stays refused after a reload', async () => {
    await attack(100);
    stage = await authStage.create({ cache_seconds: 60, failures }, host);
    expect((await refusalOf({})).code).toBe('rate_limited');
  });
});

describe('a blocked account', () => {
  it.each([
    [undefined, 'Contact support'],
    ['mailto:help@gateway.example', 'Contact help@gateway.example'],
  ])('is refused with the advice to contact %s', async (contact, words) => {
    const account = await createAccount(database, 'dp', { name: 'Citra' });
    await blockAccount(database, account.accountId, 'unpaid');
    Object.assign(host, { service: { ...host.service, contact } });
    stage = await authStage.create({ cache_seconds: 60, failures }, host);
    const { code, message } = await refusalOf(bearer(account.key));
    const today = new Date().toISOString().slice(0, 10);
    const blocked = `This Daypass account has been blocked since ${today}. ${words}; see https://gateway.example`;
    expect([code, message]).toEqual(['account_blocked', blocked]);
  });
});

describe('a public endpoint', () => {
  const publicCall = { endpoint: { ...freeCall, isPublic: true } };

  it.each([
    ['no key', {}, 0],
    ['a key of another kind', bearer('sk-other'), 0],
    ['a key that nobody has', bearer(generateApiKey('dp')), 1],
  ])('is passed on with %s, as a request of no account', async (_name, headers, queries) => {
    const exchange = createExchange(headers, publicCall);
    expect(await stage.enter?.(exchange)).toBeUndefined();
    expect(exchange.find(principal)).toBeUndefined();
    expect(exchange.find(unauthenticated)).toBe(true);
    expect(gauge.queries).toBe(queries);
  });

  it('is passed on with a valid key, which is looked up, and while it cannot be', async () => {
    const exchange = createExchange(bearer(key), publicCall);
    expect(await stage.enter?.(exchange)).toBeUndefined();
    gauge.failure = new Error('connect ECONNREFUSED');
    const unknown = createExchange(bearer(generateApiKey('dp')), publicCall);
    expect(await stage.enter?.(unknown)).toBeUndefined();
    expect([exchange, unknown].map((one) => [one.find(principal), one.find(unauthenticated)])).toEqual([
      [undefined, undefined],
      [undefined, true],
    ]);
  });

  it('counts unknown keys as failures of the client’s address', async () => {
    const frozen = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    for (let sent = 0; sent < failures.limit; sent++) await stage.enter?.(createExchange(invent(), publicCall));
    const { code } = await refusalOf({});
    frozen.mockRestore();
    expect(code).toBe('rate_limited');
  });
});

/** Whether a refused request is marked as one of no account. */
const markOf = async (headers: IncomingHttpHeaders): Promise<unknown> => {
  const exchange = createExchange(headers);
  await expect((async () => stage.enter?.(exchange))()).rejects.toThrow();
  return exchange.find(unauthenticated);
};

describe('a request of no account', () => {
  it('is marked at once without a key, with an unknown key, and over the limit of failures', async () => {
    const exchange = createExchange();
    expect(() => stage.enter?.(exchange)).toThrow(GatewayError);
    expect(exchange.find(unauthenticated)).toBe(true);
    expect(await markOf(invent())).toBe(true);
    await attack(100);
    expect([await markOf({}), await markOf(invent())]).toEqual([true, true]);
  });

  it('is none with a key that is valid, also while others cannot be looked up, blocked or replaced', async () => {
    const blocked = await createAccount(database, 'dp', { name: 'Citra' });
    await blockAccount(database, blocked.accountId, 'unpaid');
    const replaced = await createAccount(database, 'dp', { name: 'Budi' });
    await rotateKey(database, 'dp', replaced.accountId);
    expect([await markOf(bearer(blocked.key)), await markOf(bearer(replaced.key))]).toEqual([undefined, undefined]);
    const valid = createExchange(bearer(key));
    await stage.enter?.(valid);
    expect(valid.find(unauthenticated)).toBeUndefined();
    gauge.failure = new Error('connect ECONNREFUSED');
    const cached = createExchange(bearer(key));
    await stage.enter?.(cached);
    expect(cached.find(unauthenticated)).toBeUndefined();
    // Anybody can make one up.
    expect(await markOf(invent())).toBe(true);
  });

  it('is one whose client has left already, unless its key is in memory; none is looked up', async () => {
    await enter(bearer(key));
    const { queries } = gauge;
    const marks = [bearer(key), invent(), {}].map((headers) => {
      const exchange = createExchange(headers);
      exchange.abort(new ClientGone());
      stage.start?.(exchange);
      return exchange.find(unauthenticated);
    });
    expect(marks).toEqual([undefined, true, true]);
    expect(gauge.queries).toBe(queries);
  });
});

describe('a key in the URL', () => {
  it.each([
    ['of this gateway', () => `beta=true&x=${key}`],
    ['under the name that Google’s clients use', () => `key=${key}`],
    ['of somebody else', () => 'API_KEY=abc'],
  ])('is refused as any other: %s', async (_name, query) => {
    await expect(refusalOf({}, query())).resolves.toMatchObject({
      code: 'invalid_api_key',
      message: refusalText,
      details: { headers: { 'www-authenticate': 'Bearer' } },
    });
  });

  it('a key in the URL is ignored if a header has a key', async () => {
    await expect(enter(bearer(key), `q=${generateApiKey('dp')}&key=dp-x`)).resolves.toMatchObject({ accountId });
    expect((await refusalOf(bearer(generateApiKey('dp')), `key=${key}`)).message).toBe(refusalText);
  });
});

describe('a changed key', () => {
  it('a rotated key is refused within a second', async () => {
    const { accountId: id, key: old } = await createAccount(database, 'dp', { name: 'Budi' });
    await enter(bearer(old));
    const { key: next } = await rotateKey(database, 'dp', id);
    await expect(enter(bearer(next))).resolves.toMatchObject({ accountId: id });
    await refusedSoon(old);
  });

  it('the holder of a replaced key reads since when, and how to get the new one', async () => {
    const { accountId: id, key: old } = await createAccount(database, 'dp', { name: 'Budi' });
    await rotateKey(database, 'dp', id);
    const today = new Date().toISOString().slice(0, 10);
    const { code, message } = await refusalOf(bearer(old));
    expect([code, message]).toEqual([
      'invalid_api_key',
      `This Daypass API key was replaced on ${today}. Use the new one, or create another at https://gateway.example/account/key, then run: curl -fsSL https://gateway.example/setup.sh | sh`,
    ]);
    await database.query("update api_key set rotated_at = rotated_at - interval '91 days' where account_id = ?", [id]);
    await clearReplacedDigests(database);
    const [row] = await database.query('select former_sha256 from api_key where account_id = ?', [id]);
    expect(row).toEqual({ former_sha256: null });
    stage = await authStage.create({ cache_seconds: 60, failures }, createStageHost(createGauge(database).gauged));
    await expect(refusalOf(bearer(old))).resolves.toMatchObject({ message: refusalText });
  });

  it('only the last key before a rotation is known as replaced', async () => {
    const { accountId: id, key: first } = await createAccount(database, 'dp', { name: 'Budi' });
    await rotateKey(database, 'dp', id);
    await rotateKey(database, 'dp', id);
    await expect(refusalOf(bearer(first))).resolves.toMatchObject({ message: refusalText });
  });

  it('a changed key has its new limits within a second', async () => {
    const { accountId: id, key: own } = await createAccount(database, 'dp', { name: 'Citra' });
    await enter(bearer(own));
    await changeLimits(database, id, { concurrent: 1 });
    await vi.waitFor(() => expect(enter(bearer(own))).resolves.toMatchObject({ limits: { concurrent: 1 } }), {
      timeout: 15_000,
    });
  });
});

describe('while the database does not answer', () => {
  it('a cached key passes while the database does not respond', async () => {
    stage = await authStage.create({ cache_seconds: 0, failures }, host);
    await enter(bearer(key));
    gauge.failure = new Error('connect ECONNREFUSED');
    await expect(enter(bearer(key))).resolves.toMatchObject({ accountId });
  });

  it('an unknown key gets 503, not 401, while the database does not respond', async () => {
    gauge.failure = new Error('connect ECONNREFUSED');
    await expect(refusalOf(bearer(key))).resolves.toMatchObject({ code: 'unavailable', details: { retryAfter: 2 } });
  });
});

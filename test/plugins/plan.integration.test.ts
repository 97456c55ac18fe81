import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { type Entitlement, entitlement, principal, type RateLimits } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { authStage } from '../../plugins/auth/stage.ts';
import { planStage } from '../../plugins/plan/stage.ts';
import {
  createExchange,
  createGauge,
  createStageHost,
  freeCall,
  modelCall,
} from '../core/business/accounts/fixture.ts';
import { mistakesIn, readYaml } from '../core/business/accounts/yaml-fixture.ts';
import { createTestDatabase } from '../support/database.ts';
import { descriptors } from '../support/formats.ts';

const tokenCount: Endpoint = {
  name: 'count_tokens',
  method: 'POST',
  path: '/v1/messages/count_tokens',
  format: descriptors.messages,
  isMetered: false,
};
const geminiTokenCount: Endpoint = {
  ...tokenCount,
  name: 'gemini_count_tokens',
  path: '/v1beta/models/{id*}:countTokens',
  format: descriptors.gemini,
};
const deletion: Endpoint = {
  name: 'delete_response',
  method: 'DELETE',
  path: '/v1/responses/{id}',
  isMetered: false,
};

const day = 24 * 60 * 60; // seconds

let database: Database;
let host: Host & AsyncDisposable;
let gauge: { queries: number; failure: Error | undefined; step: number };
let stage: Stage;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani' }));
  const gauged = createGauge(database);
  gauge = gauged.gauge;
  host = createStageHost(gauged.gauged);
  stage = await planStage.create({ grace: 0 }, host);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await host[Symbol.asyncDispose]();
});

function exchangeOf(id: string, endpoint: Endpoint = modelCall) {
  const exchange = createExchange({}, { endpoint });
  exchange.set(principal, { accountId: id, keyId: 'k', keyHint: 'dp-…', limits: undefined, requestCount: 0 });
  return exchange;
}

async function enter(endpoint?: Endpoint): Promise<Entitlement> {
  const exchange = exchangeOf(accountId, endpoint);
  await stage.enter?.(exchange);
  return exchange.get(entitlement);
}

async function refusal(): Promise<GatewayError> {
  const error: unknown = await enter().catch((thrown: unknown) => thrown);
  if (error instanceof GatewayError) return error;
  throw new Error('the request is let in');
}

/** Enters a period that began and ends so many seconds from now. */
function addPeriod(from: number, until: number, limits: RateLimits | null = null): Promise<void> {
  return heard(() =>
    database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, limits)
       values (gen_random_uuid(), ?, now() + make_interval(secs => ?), now() + make_interval(secs => ?), 1, 'grant', ?)`,
      [accountId, from, until, JSON.stringify(limits)],
    ),
  );
}

/** Changes the ledger, and returns when this process has heard of it. */
async function heard(change: () => Promise<unknown>): Promise<void> {
  const told = Promise.withResolvers<void>();
  const stop = await database.notifications.listen(
    'account',
    (id) => id === accountId && told.resolve(),
    () => {},
  );
  await change();
  await told.promise;
  stop();
}

/** Lets the clock of this process advance by so many seconds at once. */
function skip(seconds: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1_000);
}

const grant = (days: number, label?: string) => heard(() => grantDays(database, accountId, { days, label }));

describe('plan options', () => {
  const known = { stages: [authStage, planStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('the plan options have defaults', () => {
    expect(read('plan')).toEqual({ grace: 0 });
  });

  it('a grace period can be set', () => {
    expect(read('plan: { grace: 3600 }')).toEqual({ grace: 3_600 });
  });

  it.each(['-1', '2592001', '0.5', 'long'])('a grace period of %s seconds is refused', (value) => {
    expect(mistakes(`auth, plan: { grace: ${value} }`)).toEqual([expect.stringContaining('grace')]);
  });

  it('unknown plan options are refused', () => {
    expect(mistakes('auth, plan: { graze: 5 }')).toEqual([expect.stringContaining('did you mean "grace"')]);
  });

  it('the plan stage needs a stage before it that identifies the caller', () => {
    expect(mistakes('plan, auth')).toEqual([expect.stringContaining('principal')]);
  });
});

describe('an account with an active period', () => {
  it('an account with an active period passes, with its period and the time left', async () => {
    await grant(3, 'trial');
    const { period, secondsLeft, inactiveReason } = await enter();
    expect(inactiveReason).toBeUndefined();
    expect(period).toMatchObject({ label: 'trial', endsAt: expect.any(Date) });
    expect(secondsLeft).toBeGreaterThan(3 * day - 60);
    expect(secondsLeft).toBeLessThanOrEqual(3 * day);
  });

  it('the balance counts the time of future periods', async () => {
    await grant(1, 'running');
    await grant(7, 'coming');
    const { period, secondsLeft } = await enter();
    expect(period?.label).toBe('running');
    expect(secondsLeft).toBeGreaterThan(8 * day - 60);
  });

  it('adjacent periods count as one, which ends with the balance', async () => {
    await addPeriod(-day, day);
    await grant(1);
    const { period, secondsLeft } = await enter();
    expect(period?.startsAt.getTime()).toBeLessThan(Date.now());
    expect(((period?.endsAt.getTime() ?? 0) - Date.now()) / 1_000 - secondsLeft).toBeCloseTo(0, -1);
  });

  it('a period after a gap counts in the balance, not in the active period', async () => {
    await addPeriod(-day, day);
    await addPeriod(2 * day, 3 * day);
    const { period, secondsLeft } = await enter();
    expect(((period?.endsAt.getTime() ?? 0) - Date.now()) / 1_000).toBeCloseTo(day, -3);
    expect(secondsLeft).toBeGreaterThan(3 * day - 60);
  });

  it.each([
    [1, '1 day'],
    [3, '3 days'],
  ])('names an unlabelled period of %i days by its days', async (days, label) => {
    await grant(days);
    await grant(9);
    expect((await enter()).period?.label).toBe(label);
  });

  it('a cached account passes synchronously', async () => {
    await grant(1);
    await enter();
    expect(stage.enter?.(exchangeOf(accountId))).toBeUndefined();
  });

  it('a cached account passes while the database does not respond', async () => {
    await grant(1);
    await enter();
    gauge.failure = new Error('connect ECONNREFUSED');
    await expect(enter()).resolves.toMatchObject({ period: { label: '1 day' } });
  });
});

describe('an account without an active period', () => {
  it('an account that never had a plan gets the address of the plans', async () => {
    await expect(refusal()).resolves.toMatchObject({
      code: 'plan_inactive',
      message: 'No active plan. Choose one at https://gateway.example/buy',
    });
  });

  it('an account whose period ended gets the time of its end and the address to renew', async () => {
    await addPeriod(-20 * day, -19 * day);
    await addPeriod(-2 * day, -day);
    const { code, message } = await refusal();
    expect(code).toBe('plan_inactive');
    expect(message).toMatch(
      /^Your plan ended at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\. Renew at https:\/\/gateway\.example\/buy$/,
    );
    const endedAt = Date.parse(message.split(' ')[4]?.replace(/\.$/, '') ?? '');
    expect(Date.now() - endedAt).toBeGreaterThan((day - 3_600) * 1_000);
    expect(Date.now() - endedAt).toBeLessThan((day + 3_600) * 1_000);
  });

  it('an account without an active period gets a status that its client does not retry', async () => {
    const error = await refusal();
    expect([
      error.status(descriptors.chat),
      error.status(descriptors.messages),
      error.status(descriptors.responses),
    ]).toEqual([402, 402, 400]);
    expect(error.isFinal).toBe(true);
  });

  it('an account with a future period gets the time of its start', async () => {
    await addPeriod(-2 * day, -day);
    await addPeriod(day, 2 * day);
    expect((await refusal()).message).toMatch(/^Your plan starts at \d{4}-\d\d-\d\dT[\d:.]+Z\.$/);
  });

  it('passes where no model is called, with the reason', async () => {
    const { inactiveReason } = await enter(freeCall);
    expect(inactiveReason).toBe((await refusal()).message);
  });

  it('passes where no model is called', async () => {
    await expect(enter(freeCall)).resolves.toMatchObject({ period: undefined, secondsLeft: 0 });
  });

  it('an account without an active period can delete a stored response', async () => {
    await expect(enter(deletion)).resolves.toMatchObject({ period: undefined, secondsLeft: 0 });
  });

  it.each([tokenCount, geminiTokenCount])(
    'an account without an active period is refused where tokens are counted: $path',
    async (endpoint) => {
      await expect(enter(endpoint)).rejects.toMatchObject({ code: 'plan_inactive' });
    },
  );

  it('an account passes as soon as days are granted', async () => {
    await refusal();
    await grantDays(database, accountId, { days: 1 });
    await vi.waitFor(() => expect(enter()).resolves.toMatchObject({ secondsLeft: expect.any(Number) }), {
      timeout: 15_000,
    });
  });

  it('an account passes during the grace period', async () => {
    await addPeriod(-day, -60);
    stage = await planStage.create({ grace: 3_600 }, host);
    await expect(enter()).resolves.toMatchObject({ period: { label: '1 day' }, secondsLeft: 0 });
  });

  it('an account is refused after the grace period', async () => {
    await addPeriod(-day, -60);
    stage = await planStage.create({ grace: 30 }, host);
    await expect(refusal()).resolves.toMatchObject({ code: 'plan_inactive' });
  });
});

describe('a period that ends', () => {
  it('a period ends on time, also while the database does not respond', async () => {
    await addPeriod(-day, 30);
    await enter();
    gauge.failure = new Error('down');
    skip(30);
    expect((await refusal()).message).toContain('Your plan ended');
  });

  it('a period has not ended if the clock of the database was set back since it was read', async () => {
    await addPeriod(-day, 30);
    gauge.step = 3_600_000;
    await refusal();
    gauge.step = 0;
    skip(2);
    await expect(enter()).resolves.toMatchObject({ inactiveReason: undefined });
  });

  it('an ended period is read at most once a second', async () => {
    await addPeriod(-day, -30);
    await refusal();
    const { queries } = gauge;
    for (let request = 0; request < 10; request++) await refusal();
    expect(gauge.queries).toBe(queries);
  });
});

describe('the limits of a plan', () => {
  it('the limits of a plan apply while its period runs', async () => {
    await addPeriod(-day, day, { limit: 600 });
    expect((await enter()).limits).toEqual({ limit: 600 });
  });

  it('the limits of a plan begin and end with its period, without a query', async () => {
    await addPeriod(-day, 30, { limit: 600 });
    await addPeriod(30, day, { limit: 9 });
    expect((await enter()).limits).toEqual({ limit: 600 });
    const { queries } = gauge;
    skip(31);
    expect((await enter()).limits).toEqual({ limit: 9 });
    expect(gauge.queries).toBe(queries);
  });

  it('a plan without limits has none', async () => {
    await addPeriod(-day, day);
    expect((await enter()).limits).toBeUndefined();
  });

  it('the limits of a plan apply during its grace period', async () => {
    await addPeriod(-day, -60, { limit: 600 });
    stage = await planStage.create({ grace: 3_600 }, host);
    expect((await enter()).limits).toEqual({ limit: 600 });
  });
});

describe('an unidentified caller', () => {
  it('an unidentified caller passes on public endpoints', () => {
    expect(stage.enter?.(createExchange({}, { endpoint: { ...freeCall, isPublic: true } }))).toBeUndefined();
  });
});

describe('a caller identified by another stage', () => {
  it('a caller identified by another stage needs a plan, not a UUID', async () => {
    accountId = 'someone@sso';
    await expect(enter()).rejects.toMatchObject({ code: 'plan_inactive' });
  });
});

import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessTokens } from '#core/business/accounts/access-token.ts';
import { rotateKey } from '#core/business/accounts/account-key.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { principal, type Principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { authStage } from '../../plugins/auth/stage.ts';
import { createExchange, createGauge, createStageHost } from '../core/business/accounts/fixture.ts';
import { createTestDatabase } from '../support/database.ts';

const options = { cache_seconds: 60, failures: { limit: 60, period: 60 } };

let database: Database;
let host: Host & AsyncDisposable;
let gauge: { queries: number; failure: Error | undefined };
let stage: Stage;
/** What issues the tokens: another instance than the one whose stage reads them. */
let issuer: AccessTokens;
let clock: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  clock = Date.now();
  const gauged = createGauge(database);
  gauge = gauged.gauge;
  host = Object.assign(createStageHost(gauged.gauged), { now: () => clock });
  stage = await authStage.create(options, host);
  issuer = new AccessTokens(database, () => clock);
});
afterEach(async () => {
  await host[Symbol.asyncDispose]();
});

const bearer = (credential: string): IncomingHttpHeaders => ({ authorization: `Bearer ${credential}` });

/** Lets a request in, or throws what refuses it. */
async function enter(headers: IncomingHttpHeaders, query = ''): Promise<Principal> {
  const exchange = createExchange(headers, { query });
  await stage.enter?.(exchange);
  return exchange.get(principal);
}

const refusal = async (...request: Parameters<typeof enter>): Promise<string> => {
  const error: unknown = await enter(...request).catch((thrown: unknown) => thrown);
  return error instanceof GatewayError ? error.code : 'let in';
};

/** An account that is signed in, with a token of that session. */
async function signedIn() {
  const { accountId, key } = await createAccount(database, 'dp', { name: 'Ani', limits: { limit: 5 } });
  const sessions = new Sessions(database);
  const { id: sessionId } = await sessions.create(accountId, 'Firefox');
  const token = await issuer.sign('dp', { accountId, sessionId });
  return { accountId, key, sessions, sessionId, token };
}

describe('an access token', () => {
  it('an access token counts as the key of its account, with playground as its hint', async () => {
    const { accountId, key, token } = await signedIn();
    const byKey = await enter(bearer(key));
    await expect(enter(bearer(token))).resolves.toEqual({ ...byKey, accountId, keyHint: 'playground' });
  });

  it('an access token is accepted again, on any instance', async () => {
    const { accountId, token } = await signedIn();
    await enter(bearer(token));
    await using other = createStageHost(database);
    const there = await authStage.create(options, other);
    const exchange = createExchange(bearer(token));
    await there.enter?.(exchange);
    expect(exchange.get(principal).accountId).toBe(accountId);
  });

  it('an access token stays valid after the key is rotated, because it depends on the session', async () => {
    const { accountId, token } = await signedIn();
    await rotateKey(database, 'dp', accountId);
    await expect(enter(bearer(token))).resolves.toMatchObject({ accountId });
  });

  it('an access token ends with its session at once', async () => {
    const { accountId, sessions, sessionId, token } = await signedIn();
    await enter(bearer(token));
    await sessions.revoke(accountId, sessionId);
    expect(await refusal(bearer(token))).toBe('invalid_api_key');
  });

  it('an access token stays valid when another session of the account ends', async () => {
    const { accountId, sessions, sessionId, token } = await signedIn();
    await sessions.create(accountId, 'Chrome');
    await sessions.revokeAll(accountId, sessionId);
    expect(await refusal(bearer(token))).toBe('let in');
  });

  it('an access token does not combine the session of one account with another account', async () => {
    const [mine, theirs] = [await signedIn(), await signedIn()];
    const mixed = await issuer.sign('dp', { accountId: theirs.accountId, sessionId: mine.sessionId });
    expect(await refusal(bearer(mixed))).toBe('invalid_api_key');
  });

  it('an access token ends when the account is blocked or deleted', async () => {
    const [blocked, deleted] = [await signedIn(), await signedIn()];
    await blockAccount(database, blocked.accountId, 'unpaid');
    await deleteAccount(database, deleted.accountId);
    expect(await refusal(bearer(blocked.token))).toBe('account_blocked');
    expect(await refusal(bearer(deleted.token))).not.toBe('let in');
  });

  it('an access token expires', async () => {
    const { token } = await signedIn();
    clock += 10 * 60 * 1_000;
    expect(await refusal(bearer(token))).toBe('invalid_api_key');
  });

  it('an access token is invalid a minute after the secret was deleted', async () => {
    const { token } = await signedIn();
    await enter(bearer(token));
    await database.query(`delete from secret where name = 'access-token'`);
    clock += 60_000;
    expect(await refusal(bearer(token))).toBe('invalid_api_key');
  });

  it('an access token is refused in the URL, in x-api-key and under another scheme', async () => {
    const { token } = await signedIn();
    expect(await refusal({}, `key=${token}`)).toBe('invalid_api_key');
    expect(await refusal({ 'x-api-key': token })).toBe('invalid_api_key');
    expect(await refusal({ authorization: `Basic ${token}` })).toBe('invalid_api_key');
  });

  it('a forged access token costs no query and counts as a failure of its address', async () => {
    const { token } = await signedIn();
    await enter(bearer(token));
    gauge.queries = 0;
    const forged = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    const codes = await Promise.all(Array.from({ length: 61 }, () => refusal(bearer(forged))));
    expect(gauge.queries).toBe(0);
    expect([codes[0], codes[60]]).toEqual(['invalid_api_key', 'rate_limited']);
  });

  it('an access token is ignored if the request also has a key', async () => {
    const { token } = await signedIn();
    const headers = { ...bearer(token), 'x-api-key': generateApiKey('dp') };
    expect(await refusal(headers)).toBe('invalid_api_key');
  });

  it('an access token gets 503 while the database does not respond, and is accepted afterwards', async () => {
    const { token } = await signedIn();
    gauge.failure = new Error('connect ECONNREFUSED');
    expect(await refusal(bearer(token))).toBe('unavailable');
    gauge.failure = undefined;
    clock += 2_000;
    expect(await refusal(bearer(token))).toBe('let in');
  });
});

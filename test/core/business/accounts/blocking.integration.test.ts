import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readEvents } from '#core/business/accounts/account-events.ts';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import {
  blockAccount,
  endPause,
  pauseAccount,
  resumeAccount,
  unblockAccount,
} from '#core/business/accounts/blocking.ts';
import type { Database } from '#core/platform/database/database.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { authStage } from '../../../../plugins/auth/stage.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { createExchange, createStageHost } from './fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Long before what instances have cached expires, which takes an hour. */
const patience = { timeout: 15_000 };

const create = () => createAccount(database, 'dp', { name: 'Ani' });

/** What `auth` of an instance says to a key: an error code, or `in`. */
async function createInstance(key: string) {
  const host = createStageHost(database);
  const stage = await authStage.create({ cache_seconds: 3600, failures: { limit: 60, period: 60 } }, host);
  const ask = async () => {
    try {
      await stage.enter?.(createExchange({ authorization: `Bearer ${key}` }));
      return 'in';
    } catch (error) {
      return error instanceof GatewayError ? error.code : 'crash';
    }
  };
  return { ask, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

describe('a blocked account', () => {
  it('is refused on every instance that has cached its key, and served again when it is unblocked', async () => {
    const { accountId, key } = await create();
    await using one = await createInstance(key);
    await using two = await createInstance(key);
    expect(await Promise.all([one.ask(), two.ask()])).toEqual(['in', 'in']);
    await blockAccount(database, accountId, 'abuse');
    await vi.waitFor(
      async () => expect([await one.ask(), await two.ask()]).toEqual(Array(2).fill('account_blocked')),
      patience,
    );
    await unblockAccount(database, accountId);
    await vi.waitFor(async () => expect([await one.ask(), await two.ask()]).toEqual(['in', 'in']), patience);
  });

  it('learns where to ask, and not why it is blocked', async () => {
    const { accountId, key } = await create();
    await blockAccount(database, accountId, 'sells its key');
    await using host = createStageHost(database);
    Object.assign(host, { service: { ...host.service, contact: 'mailto:help@gateway.example' } });
    const stage = await authStage.create({ cache_seconds: 60, failures: { limit: 60, period: 60 } }, host);
    await expect(stage.enter?.(createExchange({ authorization: `Bearer ${key}` }))).rejects.toThrow(
      /^This Daypass account has been blocked since [\d-]+\. Contact help@gateway\.example; see https:\/\/gateway\.example$/,
    );
  });

  it('has no sessions, and a session that is opened meanwhile is not read', async () => {
    const { accountId } = await create();
    const sessions = new Sessions(database);
    const { token } = await sessions.create(accountId, 'Firefox');
    await blockAccount(database, accountId, 'abuse');
    expect(await sessions.list(accountId)).toEqual([]);
    const late = await sessions.create(accountId, 'Firefox');
    expect([await sessions.read(token), await sessions.read(late.token)]).toEqual([undefined, undefined]);
  });

  it('keeps its first reason and has one event, however often it is blocked', async () => {
    const { accountId } = await create();
    await blockAccount(database, accountId, 'first');
    await blockAccount(database, accountId, 'second');
    const events = await readEvents(database, '0', 1_000);
    const own = events.filter(({ name, payload }) => name === 'account.blocked' && payload.accountId === accountId);
    expect(own).toHaveLength(1);
    const [row] = await database.query('select blocked_reason from account where id = ?', [accountId]);
    expect(row).toEqual({ blocked_reason: 'first' });
  });

  it('that does not exist is not found', async () => {
    const nobody = '00000000-0000-7000-8000-000000000000';
    await expect(blockAccount(database, nobody, 'abuse')).rejects.toMatchObject({ kind: 'not_found' });
  });
});

const createPaused = async () => {
  const { accountId } = await create();
  await database.fork().transactional((transaction) => pauseAccount(transaction, accountId, 'asked for'));
  return accountId;
};
const stateOf = async (accountId: string) => {
  const { blockedAt, pausedAt } = await findAccount(database, accountId);
  return [blockedAt, pausedAt].map((date) => date !== undefined);
};

describe('an account that its owner has paused', () => {
  it('is not unblocked by an operator, and says why', async () => {
    const accountId = await createPaused();
    await expect(unblockAccount(database, accountId)).rejects.toMatchObject({ kind: 'paused' });
    expect(await stateOf(accountId)).toEqual([true, true]);
  });

  it('is paused again when an operator’s block ends, since the day of the pause', async () => {
    const accountId = await createPaused();
    const { pausedAt } = await findAccount(database, accountId);
    await blockAccount(database, accountId, 'abuse');
    expect(await stateOf(accountId)).toEqual([true, false]);
    await unblockAccount(database, accountId);
    expect(await findAccount(database, accountId)).toMatchObject({ blockedAt: pausedAt, pausedAt });
    const resumed = await database.fork().transactional((transaction) => resumeAccount(transaction, accountId));
    expect([resumed, ...(await stateOf(accountId))]).toEqual([true, false, false]);
  });

  it('does not remember a pause that has ended', async () => {
    const accountId = await createPaused();
    await endPause(database, accountId);
    await blockAccount(database, accountId, 'abuse');
    await unblockAccount(database, accountId);
    expect(await stateOf(accountId)).toEqual([false, false]);
    await expect(endPause(database, accountId)).rejects.toMatchObject({ kind: 'not_paused' });
  });
});

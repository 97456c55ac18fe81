import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeLimits, issueFirstKey, rotateKey } from '#core/business/accounts/account-key.ts';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { createAccount, findAccount, isEmailTaken } from '#core/business/accounts/accounts.ts';
import { digestApiKey } from '#core/business/accounts/api-key.ts';
import { addDays, grantDays } from '#core/business/accounts/ledger.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

const day = 24 * 60 * 60 * 1_000; // ms

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const create = (name = 'Ani') => createAccount(database, 'dp', { name });
const createUnseen = () => createAccount(database, 'dp', { name: 'Unseen', isKeyShown: false });

/** Enters a period of one day that began so many days ago. */
async function addPastDay(accountId: string, daysAgo: number): Promise<void> {
  await database.query(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
     values (gen_random_uuid(), ?, now() - make_interval(days => ?), now() - make_interval(days => ?), 1, 'grant')`,
    [accountId, daysAgo, daysAgo - 1],
  );
}

describe('createAccount', () => {
  it('stores only the SHA-256 and the hint of the key', async () => {
    const { accountId, key } = await create();
    const [row] = await database.query<{ row: string }>(
      'select row_to_json(k)::text as row from api_key k where account_id = ?',
      [accountId],
    );
    expect(row?.row).toContain(digestApiKey(key));
    expect(row?.row).not.toContain(key.slice(3, 20));
  });

  it('keeps limits, e-mail address and paid days', async () => {
    const { accountId } = await createAccount(database, 'dp', {
      name: 'Budi',
      email: 'budi@example.com',
      limits: { limit: 5 },
      period: { days: 3, reason: 'grant', label: 'trial' },
    });
    const account = await findAccount(database, accountId);
    expect(account).toMatchObject({ name: 'Budi', email: 'budi@example.com', key: { limits: { limit: 5 } } });
    expect(account.periods).toMatchObject([{ label: 'trial' }]);
  });

  it('refuses an e-mail address that another account has, in any case', async () => {
    await createAccount(database, 'dp', { name: 'G', email: 'g@example.com' });
    await expect(createAccount(database, 'dp', { name: 'H', email: 'G@Example.com' })).rejects.toMatchObject({
      kind: 'email_taken',
    });
  });

  it('takes no other refusal of the database for an address that is taken', () => {
    const refusal = new Error('duplicate key');
    expect(isEmailTaken(Object.assign(refusal, { constraint: 'account_email' }))).toBe(true);
    expect(isEmailTaken(Object.assign(refusal, { constraint: 'account_pkey' }))).toBe(false);
    expect(isEmailTaken(new Error('gone'))).toBe(false);
  });

  it('leaves nothing behind when the days cannot be granted', async () => {
    const period = { days: 400, reason: 'grant' } as const;
    await expect(createAccount(database, 'dp', { name: 'D', email: 'd@example.com', period })).rejects.toMatchObject({
      kind: 'too_many_days',
    });
    await expect(findAccount(database, 'd@example.com')).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('rotateKey', () => {
  it('leaves the new key as the only one', async () => {
    const { accountId, key: old } = await create();
    const { key, hint } = await rotateKey(database, 'dp', accountId);
    expect((await findAccount(database, key)).key).toMatchObject({ hint, rotatedAt: expect.any(Date) });
    const missing = { kind: 'not_found', message: expect.stringMatching(/^No account has this key\. Pass an id/) };
    await expect(findAccount(database, old)).rejects.toMatchObject(missing);
  });

  it('keeps the limits', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'E', limits: { burst: 2 } });
    await rotateKey(database, 'dp', accountId);
    expect((await findAccount(database, accountId)).key?.limits).toEqual({ burst: 2 });
  });

  it('leaves one valid key when it runs twice at once', async () => {
    const { accountId } = await create();
    const issued = await Promise.all([rotateKey(database, 'dp', accountId), rotateKey(database, 'dp', accountId)]);
    const digests = issued.map(({ key }) => digestApiKey(key));
    expect(await readAccounts(database, 'digest', digests)).toHaveLength(1);
  });

  it('refuses an account that does not exist', async () => {
    await expect(rotateKey(database, 'dp', '00000000-0000-7000-8000-000000000000')).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('issueFirstKey', () => {
  it('replaces a key that was never shown, once', async () => {
    const { accountId, key: unseen } = await createUnseen();
    const revealed = await issueFirstKey(database, 'dp', accountId);
    expect((await findAccount(database, revealed?.key ?? '')).id).toBe(accountId);
    await expect(findAccount(database, unseen)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await issueFirstKey(database, 'dp', accountId)).toBeUndefined();
  });

  it('returns one key when it is called twice at once', async () => {
    const { accountId } = await createUnseen();
    const issued = await Promise.all(Array.from({ length: 5 }, () => issueFirstKey(database, 'dp', accountId)));
    expect(issued.filter((key) => key !== undefined)).toHaveLength(1);
  });

  it('leaves a key alone that was rotated before it was shown', async () => {
    const { accountId } = await createUnseen();
    const { key } = await rotateKey(database, 'dp', accountId);
    expect(await issueFirstKey(database, 'dp', accountId)).toBeUndefined();
    expect((await findAccount(database, key)).id).toBe(accountId);
  });

  it('leaves a key alone that was printed when it was made', async () => {
    const { accountId } = await create();
    expect(await issueFirstKey(database, 'dp', accountId)).toBeUndefined();
  });
});

describe('changeLimits', () => {
  it('keeps the limits that are left out', async () => {
    const { accountId } = await create();
    await changeLimits(database, accountId, { limit: 10, period: 60 });
    await changeLimits(database, accountId, { limit: 20 });
    expect((await findAccount(database, accountId)).key?.limits).toEqual({ limit: 20, period: 60 });
  });

  it('removes all of them with null', async () => {
    const { accountId } = await create();
    await changeLimits(database, accountId, { limit: 10 });
    await changeLimits(database, accountId, null);
    expect((await findAccount(database, accountId)).key?.limits).toBeUndefined();
  });
});

describe('grantDays', () => {
  it('starts now when no period is active', async () => {
    const { accountId } = await create();
    await addPastDay(accountId, 10);
    const { startsAt, endsAt } = await grantDays(database, accountId, { days: 7, note: 'welcome' });
    const [clock] = await database.query<{ now: number }>('select (extract(epoch from now()) * 1000)::float8 as now');
    expect(Math.abs(startsAt.getTime() - (clock?.now ?? 0))).toBeLessThan(10_000);
    expect(endsAt.getTime() - startsAt.getTime()).toBe(7 * day);
  });

  it('starts at the end of the last period when that has not passed', async () => {
    const { accountId } = await create();
    const first = await grantDays(database, accountId, { days: 3 });
    const second = await grantDays(database, accountId, { days: 7 });
    expect(second.startsAt).toEqual(first.endsAt);
  });

  it('loses no day when many are granted at once', async () => {
    const { accountId } = await create();
    await Promise.all(Array.from({ length: 12 }, () => grantDays(database, accountId, { days: 2 })));
    const { periods } = await findAccount(database, accountId);
    const [first, last] = [periods[0], periods.at(-1)];
    expect((last?.endsAt.getTime() ?? 0) - (first?.startsAt.getTime() ?? 0)).toBe(24 * day);
  });

  it('records reason, note and label', async () => {
    const { accountId } = await create();
    const { id } = await grantDays(database, accountId, { days: 1, note: 'outage', label: 'gift' });
    const rows = await database.query('select reason, note, label, days from plan_period where id = ?', [id]);
    expect(rows).toEqual([{ reason: 'grant', note: 'outage', label: 'gift', days: 1 }]);
  });

  it('says when days were granted under a name, which their owner reads', async () => {
    const { accountId } = await create();
    await grantDays(database, accountId, { days: 1, note: 'silent' });
    await grantDays(database, accountId, { days: 1, note: 'outage', label: 'gift' });
    const { periods, readAt } = await findAccount(database, accountId);
    expect(periods.map(({ label, grantedAt }) => [label, grantedAt === undefined])).toEqual([
      ['1 day', true],
      ['gift', false],
    ]);
    expect(periods[1]?.grantedAt?.getTime()).toBeCloseTo(readAt, -4);
  });

  it('refuses more than a year ahead and changes nothing', async () => {
    const { accountId } = await create();
    await grantDays(database, accountId, { days: 364 });
    await expect(grantDays(database, accountId, { days: 2 })).rejects.toMatchObject({ kind: 'too_many_days' });
    expect((await findAccount(database, accountId)).periods).toHaveLength(1);
  });

  it('grants a whole year to an account without days', async () => {
    const { accountId } = await create();
    await expect(grantDays(database, accountId, { days: 365 })).resolves.toMatchObject({ days: 365 });
  });

  it('refuses an account that does not exist', async () => {
    const nobody = '00000000-0000-7000-8000-000000000000';
    await expect(grantDays(database, nobody, { days: 1 })).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('addDays', () => {
  it('is rolled back with its transaction', async () => {
    const { accountId } = await create();
    const work = database.fork().transactional(async (transaction) => {
      await addDays(transaction, accountId, { days: 1, reason: 'grant' });
      throw new Error('the order could not be settled');
    });
    await expect(work).rejects.toThrow('settled');
    expect((await findAccount(database, accountId)).periods).toEqual([]);
  });
});

describe('findAccount', () => {
  it('finds an account by id, e-mail address, hint and key', async () => {
    const { accountId, key, hint } = await createAccount(database, 'dp', { name: 'F', email: 'f@example.com' });
    const handles = [accountId, 'F@example.com', hint, hint.replace('…', '...'), key];
    const found = await Promise.all(handles.map((handle) => findAccount(database, handle)));
    expect(found.map(({ id }) => id)).toEqual(handles.map(() => accountId));
  });

  it('never repeats a possible key in its message', async () => {
    await expect(findAccount(database, 'dp-secret')).rejects.not.toThrow('dp-secret');
  });

  it('finds nothing by quotes and SQL', async () => {
    const handles = [`' or 1=1 --@`, `'; drop table account; --`, '"}]…', '\\x27'];
    const results = await Promise.allSettled(handles.map((handle) => findAccount(database, handle)));
    expect(results.map((result) => result.status === 'rejected' && result.reason.kind)).toEqual(
      handles.map(() => 'not_found'),
    );
  });

  it('names the ids when several accounts have the same key hint', async () => {
    const one = await create();
    const other = await create();
    await database.query(`update api_key set hint = 'dp-Same…hint' where account_id in (?)`, [
      [one, other].map(({ accountId }) => accountId),
    ]);
    const error: unknown = await findAccount(database, 'dp-Same…hint').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'ambiguous' });
    expect(String(error)).toContain(one.accountId);
    expect(String(error)).toContain(other.accountId);
  });
});

describe('readAccounts', () => {
  it('has the last period when all have ended', async () => {
    const { accountId } = await create();
    await addPastDay(accountId, 20);
    await addPastDay(accountId, 10);
    const [account] = await readAccounts(database, 'id', [accountId]);
    expect(account?.periods).toHaveLength(1);
    expect(account?.periods[0]?.endsAt.getTime()).toBeGreaterThan((account?.readAt ?? 0) - 9.5 * day);
  });

  it('has the active and the future periods, earliest first', async () => {
    const { accountId } = await create();
    await addPastDay(accountId, 20);
    await grantDays(database, accountId, { days: 1, label: 'running' });
    await grantDays(database, accountId, { days: 1, label: 'coming' });
    const [account] = await readAccounts(database, 'id', [accountId]);
    expect(account?.periods.map(({ label }) => label)).toEqual(['running', 'coming']);
  });

  it('finds nothing by an id that is not a UUID', async () => {
    expect(await readAccounts(database, 'id', ['1 or 1=1'])).toEqual([]);
  });
});

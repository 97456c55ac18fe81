import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { removeEndedSessions } from '#core/web/sessions/sign-in.ts';
import { createTestDatabase, silentLog } from '../../../support/database.ts';

let database: Database;
let sessions: Sessions;

beforeAll(async () => {
  database = await createTestDatabase();
  sessions = new Sessions(database);
});

afterAll(() => database[Symbol.asyncDispose]());

async function newAccount(name = 'Rani', email?: string): Promise<string> {
  return (await createAccount(database, 'dp', { name, email })).accountId;
}

/** Moves the times of a session, as if it had been made or used that much earlier. */
async function age(id: string, column: 'last_used_at' | 'expires_at', interval: string): Promise<void> {
  await database.query(`update session set ${column} = ${column} - interval '${interval}' where id = ?`, [id]);
}

describe('a session', () => {
  it('is read by its token, with the account', async () => {
    const accountId = await newAccount('Rani', 'rani@example.com');
    const { id, token } = await sessions.create(accountId, 'Firefox');
    expect(await sessions.read(token)).toEqual({
      id,
      account: { id: accountId, name: 'Rani', email: 'rani@example.com', avatarUrl: undefined },
    });
  });

  it('is read with all others that are asked for at that time, by few queries', async () => {
    const asked: string[] = [];
    const counting = new Sessions({
      fork: () => database.fork(),
      query: (sql, parameters) => {
        asked.push(sql);
        return database.query(sql, parameters);
      },
    });
    const accountId = await newAccount();
    const issued = await Promise.all(Array.from({ length: 30 }, () => sessions.create(accountId, 'Firefox')));
    const tokens = issued.flatMap(({ token }) => Array.from({ length: 10 }, () => token));
    const read = await Promise.all([...tokens, `s${'x'.repeat(43)}`].map((token) => counting.read(token)));
    expect(read.slice(0, -1).map((one) => one?.id)).toEqual(
      issued.flatMap(({ id }) => Array.from({ length: 10 }, () => id)),
    );
    expect(read.at(-1)).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it('is not read from an earlier query than its request', async () => {
    const { id, token } = await sessions.create(await newAccount(), 'Firefox');
    const { account } = (await sessions.read(token)) ?? {};
    const before = sessions.read(token);
    await Promise.all([before, sessions.revoke(account?.id ?? '', id)]);
    expect(await sessions.read(token)).toBeUndefined();
  });

  it('is read while another transaction holds it, and its last use is noted later', async () => {
    const { id, token } = await sessions.create(await newAccount(), 'Firefox');
    await age(id, 'last_used_at', '5 minutes');
    await database.fork().transactional(async (transaction) => {
      await transaction.execute('select from session where id = ? for update', [id]);
      expect((await sessions.read(token))?.id).toBe(id);
    });
  });

  it('sets the language of mails when its reader has one', async () => {
    const accountId = await newAccount();
    await sessions.create(accountId, 'Firefox', 'id');
    await sessions.create(accountId, 'Firefox');
    expect(await database.query('select language from account where id = ?', [accountId])).toEqual([
      { language: 'id' },
    ]);
  });

  it('keeps of its token nothing but the SHA-256', async () => {
    const { id, token } = await sessions.create(await newAccount(), undefined);
    const [row] = await database.query<{ all: string; sha256: string }>(
      `select session::text as all, encode(token_sha256, 'hex') as sha256 from session where id = ?`,
      [id],
    );
    expect(row?.sha256).toBe(createHash('sha256').update(token).digest('hex'));
    expect(row?.all).not.toContain(token);
  });

  it('has 256 random bits, different each time', async () => {
    const accountId = await newAccount();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => sessions.create(accountId, undefined)));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(20);
    for (const { token } of tokens) expect(Buffer.from(token.slice(1), 'base64url')).toHaveLength(32);
  });

  it.each(['', 's', 'nonsense', `s${'A'.repeat(43)}`])('is not found by the token "%s"', async (token) => {
    expect(await sessions.read(token)).toBeUndefined();
  });

  it('ends after 90 days, however it is used', async () => {
    const { id, token, expiresAt } = await sessions.create(await newAccount(), undefined);
    expect(Math.round((expiresAt.getTime() - Date.now()) / 86_400_000)).toBe(90);
    await age(id, 'expires_at', '89 days 23 hours');
    expect(await sessions.read(token)).toBeDefined();
    await age(id, 'expires_at', '2 hours');
    expect(await sessions.read(token)).toBeUndefined();
  });

  it('ends after 14 days without use', async () => {
    const { id, token } = await sessions.create(await newAccount(), undefined);
    await age(id, 'last_used_at', '13 days');
    expect(await sessions.read(token)).toBeDefined();
    await age(id, 'last_used_at', '14 days 1 hour');
    expect(await sessions.read(token)).toBeUndefined();
  });

  it('notes its last use, at most once a minute', async () => {
    const accountId = await newAccount();
    const { id, token } = await sessions.create(accountId, undefined);
    const lastUse = async () => (await sessions.list(accountId))[0]!.lastUsedAt.getTime();
    const first = await lastUse();
    await sessions.read(token);
    expect(await lastUse()).toBe(first);
    await age(id, 'last_used_at', '61 seconds');
    await sessions.read(token);
    expect(await lastUse()).toBeGreaterThanOrEqual(first);
  });

  it('goes with its account', async () => {
    const accountId = await newAccount();
    const { token } = await sessions.create(accountId, undefined);
    await database.query('delete from account where id = ?', [accountId]);
    expect(await sessions.read(token)).toBeUndefined();
  });
});

describe('the sessions of an account', () => {
  it('are listed with their browsers, the one used last first', async () => {
    const accountId = await newAccount();
    const { id: old } = await sessions.create(accountId, 'Old browser');
    await age(old, 'last_used_at', '1 day');
    await sessions.create(accountId, `\0${'x'.repeat(1000)}`);
    const list = await sessions.list(accountId);
    expect(list.map(({ userAgent }) => userAgent)).toEqual(['x'.repeat(400), 'Old browser']);
  });

  it('are revoked one by one', async () => {
    const accountId = await newAccount();
    const [one, two] = [await sessions.create(accountId, 'a'), await sessions.create(accountId, 'b')];
    expect(await sessions.revoke(accountId, one.id)).toBe(true);
    expect(await sessions.read(one.token)).toBeUndefined();
    expect(await sessions.read(two.token)).toBeDefined();
    expect(await sessions.revoke(accountId, one.id)).toBe(false);
  });

  it('are revoked by their owner alone', async () => {
    const { id, token } = await sessions.create(await newAccount(), undefined);
    expect(await sessions.revoke(await newAccount(), id)).toBe(false);
    expect(await sessions.revoke(await newAccount(), 'no-uuid')).toBe(false);
    expect(await sessions.read(token)).toBeDefined();
  });

  it('are revoked together, except the current one', async () => {
    const [accountId, other] = [await newAccount(), await newAccount()];
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => sessions.create(accountId, undefined)));
    const foreign = await sessions.create(other, undefined);
    expect(await sessions.revokeAll(accountId, two!.id)).toBe(2);
    const tokens = [one!, two!, three!, foreign].map(({ token }) => token);
    expect((await Promise.all(tokens.map((token) => sessions.read(token)))).map((open) => open !== undefined)).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(await sessions.revokeAll(accountId)).toBe(1);
  });
});

it('a job removes sessions that have ended, and no others', async () => {
  const accountId = await newAccount();
  const [expired, idle, live] = await Promise.all([1, 2, 3].map(() => sessions.create(accountId, undefined)));
  await age(expired!.id, 'expires_at', '91 days');
  await age(idle!.id, 'last_used_at', '15 days');
  const host = { keep: (_key: string, create: () => Sessions) => create(), database, log: silentLog };
  await removeEndedSessions.run({}, host as never);
  const rows = await database.query<{ id: string }>('select id from session where account_id = ?', [accountId]);
  expect(rows).toEqual([{ id: live!.id }]);
});

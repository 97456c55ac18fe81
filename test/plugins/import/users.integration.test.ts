import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { signInWithProfile } from '#core/business/accounts/identities.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { importUser } from '../../../plugins/import/users/import-user.ts';
import { runCommand } from '../../support/command-line.ts';
import { createTestDatabase } from '../../support/database.ts';

const day = 86_400; // s

let database: Database;
let folder: string;
beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'daypass-import-'));
  await writeFile(
    join(folder, 'gateway.yaml'),
    'pipeline: [auth, plan, format, upstream, log]\nmodels: {}\nupstreams: {}\nservice: { prefix: toko }\n',
  );
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
  await database[Symbol.asyncDispose]();
});

/** Seconds since 1970, this many days ahead. */
const inDays = (days: number) => Math.floor(Date.now() / 1_000) + days * day;

interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly email?: string;
  readonly [column: string]: unknown;
}

/** Tables of new-api. @param ends days until the subscriptions of users end, by their ids */
function tables(users: readonly UserRow[], ends: Readonly<Record<number, readonly number[]>> = {}): string {
  const subscriptions = Object.entries(ends).flatMap(([id, days]) =>
    days.map((count) => ({ user_id: Number(id), end_time: inDays(count), status: 'active' })),
  );
  return JSON.stringify({
    users: users.map((user) => ({ role: 1, status: 1, quota: 0, display_name: '', ...user })),
    user_subscriptions: subscriptions,
  });
}

async function run(from: string, text: string, ...options: readonly string[]) {
  await writeFile(join(folder, 'users'), text);
  const words = ['--config', join(folder, 'gateway.yaml'), 'import', '--from', from, '--users', join(folder, 'users')];
  return runCommand([...words, '--yes', ...options], { DATABASE_URL: database.url, BASE_URL: '', REDIS_URL: '' });
}

const daysOf = async (email: string) =>
  (await listLedger(database, (await findAccount(database, email)).id)).map(({ days, reason, note }) => ({
    days,
    reason,
    note,
  }));

/** Of a user in a file of keys. */
async function lineOf(file: string, user: string): Promise<string[] | undefined> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.split(','));
  return lines.find(([name]) => name === user);
}

const ani = { id: 2, username: 'ani', display_name: 'Ani', email: 'ani@example.com' };
const budi = { id: 3, username: 'budi', email: 'Budi@Example.com' };

describe('users of new-api', () => {
  it('become accounts with keys of the shop and the days that their last subscription has left', async () => {
    const { code, out } = await run('new-api', tables([ani, budi], { 2: [3, 25, 10], 3: [-2] }));
    expect([code, out]).toEqual([0, expect.stringContaining('2 accounts created, with 25 days')]);
    expect(await daysOf('ani@example.com')).toEqual([
      { days: 25, reason: 'grant', note: 'import from new-api, user 2' },
    ]);
    expect(await daysOf('budi@example.com')).toEqual([]);
    const account = await findAccount(database, 'ani@example.com');
    expect(account.name).toBe('Ani');
    expect(account.key?.hint ?? JSON.stringify(account)).toMatch(/toko-/);
  });

  it('are imported once, however often the command runs, and by one of two at the same time', async () => {
    const text = tables([ani], { 2: [25] });
    await run('new-api', text);
    const { out } = await run('new-api', text);
    expect(out).toContain('0 accounts created, with 0 days');
    expect(out).toContain('1 users were imported before');
    const host = { database, service: { prefix: 'toko' }, now: () => Date.now() } as unknown as Host;
    const user = { id: '9', name: 'Citra', email: 'citra@example.com', endsAt: Date.now() + 5 * day * 1_000 };
    const outcomes = await Promise.all([1, 2, 3].map(() => importUser(host, 'new-api', user, { areShown: false })));
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['created', 'known', 'known']);
    expect(await daysOf('citra@example.com')).toHaveLength(1);
  });

  it('with an address that is here already give their days to that account, whose key stays', async () => {
    const { key } = await createAccount(database, 'toko', { name: 'Ani here', email: 'ANI@example.com' });
    const { out } = await run('new-api', tables([ani], { 2: [7] }));
    expect(out).toContain('1 existing accounts got 7 days');
    expect((await findAccount(database, key)).name).toBe('Ani here');
    expect(await daysOf('ani@example.com')).toMatchObject([{ days: 7 }]);
  });

  it('are on record as an action, without their addresses', async () => {
    await run('new-api', tables([ani, budi], { 2: [7] }));
    const [action, ...others] = await listActions(database, { limit: 10 });
    expect(others).toEqual([]);
    expect(action).toMatchObject({
      action: 'accounts.import',
      outcome: 'done',
      details: { source: 'new-api', count: 2 },
    });
    expect(JSON.stringify(action)).not.toMatch(/example\.com|Ani/);
  });

  it('that cannot be imported are named with the reason, and the others are imported', async () => {
    await createAccount(database, 'toko', { name: 'x', email: 'closed@example.com' }).then(({ accountId }) =>
      blockAccount(database, accountId, 'abuse'),
    );
    const users = [
      ani,
      { id: 4, username: 'off', email: 'off@example.com', status: 2 },
      { id: 5, username: 'gone', email: 'gone@example.com', deleted_at: '2026-01-01 00:00:00' },
      { id: 6, username: 'root', email: 'root@example.com', role: 100 },
      { id: 7, username: 'forever', email: 'forever@example.com' },
      { id: 8, username: 'linux_do_8', email: '' },
      { id: 9, username: 'closed', email: 'closed@example.com' },
      { id: 10, username: 'rich', email: 'rich@example.com', quota: 500_000 },
    ];
    const { code, out, errors } = await run('new-api', tables(users, { 2: [7], 7: [3_650] }));
    expect([code, errors]).toEqual([1, expect.stringMatching(/^3 of 5 users were not imported\.$/m)]);
    expect(out).toContain('2 accounts created, with 7 days');
    for (const line of [
      'users[1]: is disabled',
      'users[2]: is deleted',
      'users[3]: is an administrator: add the address to `operators`',
      'user 7: has 3650 days left, and an account can have at most 365 ahead',
      'user 8: has no email address to sign in with: pass --keys FILE',
      'user 9: its address belongs to an account that is blocked',
      'users[7].quota: money is not turned into days',
    ])
      expect(out).toContain(line);
  });
});

const ends = (days: number) => new Date(inDays(days) * 1_000).toISOString();

describe('daypass import --users', () => {
  it('changes nothing with --dry-run, and says the same figures', async () => {
    const { code, out } = await run('new-api', tables([ani, budi], { 2: [7] }), '--dry-run');
    expect([code, out]).toEqual([0, expect.stringContaining('2 accounts would be created, with 7 days')]);
    const [{ count } = { count: -1 }] = await database.query<{ count: number }>(
      'select count(*)::int as count from account',
    );
    expect([count, await listActions(database, { limit: 10 })]).toEqual([0, []]);
  });

  it('writes new keys into a file for their operator alone, and shows none of them elsewhere', async () => {
    const path = join(folder, 'keys.csv');
    const { code, out } = await run(
      'new-api',
      tables([ani, { id: 8, username: 'linux_do_8' }], { 2: [7] }),
      '--keys',
      path,
    );
    const [head, ...rows] = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    expect([code, (await stat(path)).mode & 0o777, head]).toEqual([0, 0o600, ['user', 'email', 'account', 'key']]);
    expect(rows.map(([user, email]) => [user, email])).toEqual([
      ['2', 'ani@example.com'],
      ['8', ''],
    ]);
    const keys = rows.map((row) => String(row[3]));
    for (const [index, key] of keys.entries()) expect((await findAccount(database, key)).id).toBe(rows[index]?.[2]);
    expect(keys.filter((key) => out.includes(key))).toEqual([]);
    expect((await run('new-api', tables([budi]), '--keys', path)).errors).toContain('already exists');
  });

  it('writes keys into no file that is there, such as a link that leads elsewhere', async () => {
    const path = join(folder, 'keys.csv');
    const others = join(folder, 'others.txt');
    await writeFile(others, 'mine', { mode: 0o644 });
    await symlink(others, `${path}.next`);
    const { code, errors } = await run('new-api', tables([ani]), '--keys', path);
    expect([code, errors]).toEqual([1, expect.stringContaining('keys.csv.next already exists')]);
    expect(await readFile(others, 'utf8')).toBe('mine');
    await expect(findAccount(database, 'ani@example.com')).rejects.toThrow();
  });

  it('loses no key when it ends between an account and its answer', async () => {
    const path = join(folder, 'keys.csv');
    await database.query(
      `create function refuse_second() returns trigger language plpgsql as
       $$ begin if new.source_id = '8' then raise exception 'the database is gone'; end if; return new; end $$`,
    );
    await database.query(
      'create trigger refuse_second before insert on import_account for each row execute function refuse_second()',
    );
    const users = tables([ani, { id: 8, username: 'linux_do_8' }], { 2: [7] });
    expect((await run('new-api', users, '--keys', path)).code).not.toBe(0);
    const [, , account, key] = (await lineOf(path, '2')) ?? [];
    expect([account, (await findAccount(database, String(key))).name]).toEqual(['', 'Ani']);
    await database.query('drop trigger refuse_second on import_account');
    const next = join(folder, 'next.csv');
    expect((await run('new-api', users, '--keys', next)).out).toContain('1 users were imported before');
    const [, , made, other] = (await lineOf(next, '8')) ?? [];
    expect((await findAccount(database, String(other))).id).toBe(made);
    expect((await readdir(folder)).toSorted()).toEqual(['gateway.yaml', 'keys.csv', 'next.csv', 'users']);
  });

  it('leaves the key to the owner, who signs in with the address', async () => {
    await run('new-api', tables([ani], { 2: [7] }));
    const section = (() => []) as unknown as Host['section'];
    const host = { database, section, service: { prefix: 'toko' } } as unknown as Host;
    const profile = { provider: 'google', subject: '1', email: 'ani@example.com', name: 'Ani', avatarUrl: undefined };
    const { id } = await findAccount(database, 'ani@example.com');
    expect(await signInWithProfile(host, profile)).toEqual({ accountId: id, isNew: false });
  });

  it('reads users and subscriptions of sub2api, with times as PostgreSQL writes them', async () => {
    const text = JSON.stringify({
      users: [
        { id: 1, email: 'admin@example.com', username: '', role: 'admin', status: 'active', balance: 0 },
        {
          id: 2,
          email: 'citra@example.com',
          username: 'Citra',
          role: 'user',
          status: 'active',
          balance: '12.50000000',
        },
        {
          id: 3,
          email: 'dewi@example.com',
          username: '',
          role: 'user',
          status: 'active',
          balance: 0,
          subscriptions: [{ expires_at: ends(11), status: 'active' }],
        },
      ],
      user_subscriptions: [
        {
          user_id: 2,
          expires_at: ends(2)
            .replace('T', ' ')
            .replace(/\.\d+Z/, '+00'),
          status: 'active',
        },
        {
          user_id: 2,
          expires_at: ends(16)
            .replace('T', ' ')
            .replace(/\.\d+Z/, '+00'),
          status: 'active',
        },
        { user_id: 2, expires_at: ends(300), status: 'suspended' },
      ],
    });
    const { code, out } = await run('sub2api', text);
    expect([code, out]).toEqual([0, expect.stringContaining('2 accounts created, with 27 days')]);
    expect((await findAccount(database, 'dewi@example.com')).name).toBe('dewi');
    expect(out).toContain('users[1].balance: money is not turned into days');
  });

  it('reads a joined table in CSV', async () => {
    const csv = `id,username,email,role,status,quota,end_time\n2,ani,ani@example.com,1,1,0,${inDays(4)}\n2,ani,ani@example.com,1,1,0,${inDays(9)}\n`;
    expect((await run('new-api', csv)).out).toContain('1 accounts created, with 9 days');
  });

  it('is for gateways with users alone, and its options for it', async () => {
    expect(await run('litellm', 'model_list: []\n')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('has no users to import') as string,
    });
    const path = join(folder, 'users');
    const { code, errors } = await runCommand(['import', '--from', 'new-api', path, '--dry-run']);
    expect([code, errors]).toEqual([2, '--dry-run needs --users.\n']);
  });
});

import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { addDays, grantDays, revokeDays } from '#core/business/accounts/ledger.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { coreEntities } from '#core/process/entities.ts';
import {
  iterateVouchers,
  findVouchers,
  hasOpenVouchers,
  listBatches,
  type ListedVoucher,
  listRedemptionsByDay,
  revokeVouchers,
} from '../../../plugins/vouchers/voucher-batches.ts';
import {
  createVouchers,
  formatCode,
  type NewBatch,
  redeemVoucher,
  type VoucherError,
} from '../../../plugins/vouchers/vouchers.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';

const address = '203.0.113.9';
const unusable = { name: 'VoucherError', kind: 'unusable' };

let database: Database;
let clock: number;
let shared: MemoryShared;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() => {
  clock = 1_000;
  shared = new MemoryShared(() => clock);
});

const create = (change: Partial<NewBatch> = {}) =>
  createVouchers(database, {
    count: 1,
    days: 7,
    note: 'Tokopedia',
    valid: 30,
    ...change,
  });
const createOne = async (change: Partial<NewBatch> = {}) => (await create(change)).codes[0] as string;
const newAccount = async () => (await createAccount(database, 'dp', { name: 'Ani' })).accountId;
const redeem = (accountId: string, code: string, on: Database = database) =>
  redeemVoucher({ database: on, shared }, accountId, code, address);
const revoke = async (handle: string, on: Database = database) =>
  revokeVouchers(on, (await findVouchers(on, handle)).id);
const daysOf = async (accountId: string) =>
  (await findAccount(database, accountId)).periods.reduce(
    (sum, { startsAt, endsAt }) => sum + (endsAt.getTime() - startsAt.getTime()) / 86_400_000,
    0,
  );
const expire = (batch: string) =>
  database.query('update voucher_batch set expires_at = clock_timestamp() where id = ?', [batch]);
const listed = async (batch: string) => {
  const found: ListedVoucher[] = [];
  for await (const one of iterateVouchers(database, batch)) found.push(one);
  return found;
};

describe('a voucher', () => {
  it('adds its days to the account, with a reason of its own and the words of its batch', async () => {
    const accountId = await newAccount();
    const code = await createOne({ label: 'Gift' });
    expect(await redeem(accountId, code)).toMatchObject({ days: 7, isNew: true });
    const [entry, ...others] = await listLedger(database, accountId);
    expect(entry).toMatchObject({ reason: 'voucher', days: 7, label: 'Gift', note: `…${code.slice(-4)}: Tokopedia` });
    expect([others, await daysOf(accountId)]).toEqual([[], 7]);
  });

  it('follows the days that the account has', async () => {
    const accountId = await newAccount();
    const { endsAt } = await grantDays(database, accountId, { days: 3 });
    expect((await redeem(accountId, await createOne())).startsAt).toEqual(endsAt);
  });

  it.each([
    ['in groups', formatCode],
    ['in small letters, with spaces', (code: string) => ` ${formatCode(code).toLowerCase().replaceAll('-', ' ')} `],
    ['with letters for digits', (code: string) => code.replaceAll('0', 'o').replaceAll('1', 'l')],
  ])('is read when it is typed %s', async (_how, written) => {
    expect(await redeem(await newAccount(), written(await createOne()))).toMatchObject({ isNew: true });
  });

  it('adds nothing a second time, and its owner reads what it has added', async () => {
    const accountId = await newAccount();
    const code = await createOne();
    const first = await redeem(accountId, code);
    expect(await redeem(accountId, code)).toEqual({ ...first, isNew: false });
    expect(await daysOf(accountId)).toBe(7);
  });

  it('can be redeemed later when the account has too many days now', async () => {
    const accountId = await newAccount();
    const code = await createOne({ days: 30 });
    await grantDays(database, accountId, { days: 350 });
    await expect(redeem(accountId, code)).rejects.toMatchObject({ kind: 'too_many_days' });
    await database.fork().transactional((transaction) => revokeDays(transaction, accountId, 100, 'test'));
    expect(await redeem(accountId, code)).toMatchObject({ isNew: true });
  });

  it('is in the database only as a digest', async () => {
    const code = await createOne();
    const rows = await database.query<{ text: string }>(
      'select v::text || b::text as text from voucher v, voucher_batch b',
    );
    expect(rows.some(({ text }) => text.includes(code))).toBe(false);
  });
});

describe('a code that cannot be redeemed gets one answer', () => {
  it.each<[string, () => Promise<[accountId: string, code: string]>]>([
    ['that never was', async () => [await newAccount(), '0000-0000-0000-0000']],
    ['that is empty once it is read', async () => [await newAccount(), '- -']],
    [
      'that another account has redeemed',
      async () => {
        const code = await createOne();
        await redeem(await newAccount(), code);
        return [await newAccount(), code];
      },
    ],
    [
      'that has expired',
      async () => {
        const { batch, codes } = await create();
        await expire(batch);
        return [await newAccount(), codes[0] as string];
      },
    ],
    [
      'that was revoked',
      async () => {
        const code = await createOne();
        await revoke(formatCode(code));
        return [await newAccount(), code];
      },
    ],
    [
      'for new accounts, of one that has redeemed another',
      async () => {
        const accountId = await newAccount();
        await redeem(accountId, await createOne());
        return [accountId, await createOne({ for: 'new' })];
      },
    ],
  ])('%s', async (_what, prepare) => {
    const [accountId, code] = await prepare();
    const before = await daysOf(accountId);
    const error = await redeem(accountId, code).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(unusable);
    expect((error as VoucherError).message).toBe(
      'This code cannot be redeemed. It is mistyped, used, expired or withdrawn, or only for new accounts.',
    );
    expect(await daysOf(accountId)).toBe(before);
  });

  it('and a blocked account another', async () => {
    const accountId = await newAccount();
    await blockAccount(database, accountId, 'test');
    await expect(redeem(accountId, await createOne())).rejects.toMatchObject({ kind: 'blocked' });
  });
});

it('a voucher for new accounts is for those with granted days, too', async () => {
  const accountId = await newAccount();
  await grantDays(database, accountId, { days: 1 });
  expect(await redeem(accountId, await createOne({ for: 'new' }))).toMatchObject({ isNew: true });
});

describe('attempts', () => {
  it('are limited by account, right codes included, and possible again as the hour passes', async () => {
    const accountId = await newAccount();
    for (let attempt = 0; attempt < 10; attempt++)
      await expect(redeem(accountId, 'wrong')).rejects.toMatchObject(unusable);
    const code = await createOne();
    await expect(redeem(accountId, code)).rejects.toMatchObject({ kind: 'too_many_attempts', retryAfterSeconds: 360 });
    clock += 361_000;
    expect(await redeem(accountId, code)).toMatchObject({ isNew: true });
  });

  it('are limited by network', async () => {
    const accounts = await Promise.all(Array.from({ length: 6 }, newAccount));
    for (let attempt = 0; attempt < 50; attempt++)
      await expect(redeem(accounts[attempt % 5] as string, 'wrong')).rejects.toMatchObject(unusable);
    await expect(redeem(accounts[5] as string, 'wrong')).rejects.toMatchObject({ kind: 'too_many_attempts' });
  });
});

describe('on two instances', () => {
  let other: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    other = await openDatabase({
      url: database.url,
      dataFolder: tmpdir(),
      log: silentLog,
      mode: 'command',
      isShared: true,
      entities: coreEntities,
    });
  });
  afterAll(() => other[Symbol.asyncDispose]());

  it('a code that twelve accounts redeem at once goes to one of them', async () => {
    const accounts = await Promise.all(Array.from({ length: 12 }, newAccount));
    const code = await createOne();
    const results = await Promise.allSettled(
      accounts.map((accountId, index) => redeem(accountId, code, index % 2 === 0 ? database : other)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const days = await Promise.all(accounts.map(daysOf));
    expect(days.toSorted((a, b) => b - a)).toEqual([7, ...Array.from({ length: 11 }, () => 0)]);
  });

  it('an account that redeems one code ten times at once gets its days once', async () => {
    const accountId = await newAccount();
    const code = await createOne();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => redeem(accountId, code, index % 2 === 0 ? database : other)),
    );
    expect(results.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await daysOf(accountId)).toBe(7);
  });

  it('of two codes for new accounts an account gets one, even at once', async () => {
    const accountId = await newAccount();
    const { codes } = await create({ count: 2, for: 'new' });
    const results = await Promise.allSettled(
      codes.map((code, index) => redeem(accountId, code, [database, other][index])),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await daysOf(accountId)).toBe(7);
  });

  it('no order of redeeming, revoking and dying connections adds days twice or loses them', async () => {
    const step = fc.record({
      account: fc.nat(2),
      code: fc.nat(3),
      what: fc.constantFrom('redeem', 'redeem', 'redeem', 'revoke', 'kill'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        shared = new MemoryShared(() => clock);
        const accounts = await Promise.all(Array.from({ length: 3 }, newAccount));
        const { batch, codes } = await create({ count: 4 });
        const work = steps.map(({ account, code, what }, index) => {
          const on = index % 2 === 0 ? database : other;
          if (what === 'revoke') return revoke(codes[code] as string, on);
          if (what === 'redeem') return redeem(accounts[account] as string, codes[code] as string, on);
          return database.query(
            `select pg_terminate_backend(pid, 2000) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() and query ilike '%plan_period%'`,
          );
        });
        await Promise.allSettled(work);
        const vouchers = await listed(batch);
        const redeemed = vouchers.filter(({ state }) => state === 'redeemed');
        for (const accountId of accounts)
          expect(await daysOf(accountId)).toBe(7 * redeemed.filter((one) => one.accountId === accountId).length);
        expect(redeemed.every((one) => one.startsAt !== undefined)).toBe(true);
        expect(vouchers.filter(({ state }) => state !== 'redeemed').every((one) => one.startsAt === undefined)).toBe(
          true,
        );
      }),
      { numRuns: 12 * Number(process.env['TEST_CASES'] ?? 1) },
    );
  });
});

it('the ledger refuses a second entry of a voucher, and one without a voucher', async () => {
  const accountId = await newAccount();
  await redeem(accountId, await createOne());
  const [row] = await database.query<{ voucher_id: string }>(
    'select voucher_id from plan_period where account_id = ?',
    [accountId],
  );
  const add = (voucherId?: string) =>
    database
      .fork()
      .transactional((transaction) => addDays(transaction, accountId, { days: 1, reason: 'voucher', voucherId }));
  await expect(add(row?.voucher_id)).rejects.toThrow('plan_period_redeems_once');
  await expect(add()).rejects.toThrow('plan_period_of_voucher');
});

describe('the operator', () => {
  it('sees states, and who redeemed what', async () => {
    const accountId = await newAccount();
    const { batch, codes } = await create({ count: 4, note: 'friends', source: 'given' });
    const [first = '', second = ''] = codes;
    await redeem(accountId, first);
    expect(await revoke(second)).toBe(1);
    const counts = (await listBatches(database, 100)).find(({ id }) => id === batch);
    expect(counts).toMatchObject({ open: 2, redeemed: 1, revoked: 1, note: 'friends', source: 'given', days: 7 });
    const all = await listed(batch);
    expect(all.find(({ hint }) => hint === first.slice(-4))).toMatchObject({
      state: 'redeemed',
      accountId,
    });
    expect(all.map(({ state }) => state).toSorted()).toEqual(['open', 'open', 'redeemed', 'revoked']);
  });

  it('revokes the rest of a batch, and takes no days back', async () => {
    const accountId = await newAccount();
    const { batch, codes } = await create({ count: 3 });
    await redeem(accountId, codes[0] as string);
    expect([await revoke(batch), await revoke(batch)]).toEqual([2, 0]);
    expect(await daysOf(accountId)).toBe(7);
    await expect(revoke('nothing')).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('has books of redeemed vouchers, by day and source', async () => {
    await database.query(
      'update voucher set redeemed_at = null, account_id = null, revoked_at = clock_timestamp() where redeemed_at is not null',
    );
    const given = await createOne({ days: 1, source: 'given' });
    const { codes } = await create({ count: 2 });
    const accountId = await newAccount();
    for (const code of [given, ...codes]) await redeem(accountId, code);
    // The last millisecond of November in Jakarta, and the first of December.
    const at = (time: string, source: string) =>
      database.query(
        `update voucher v set redeemed_at = ?::timestamptz from voucher_batch b
         where b.id = v.batch_id and v.account_id = ? and b.source = ?`,
        [time, accountId, source],
      );
    await at('2026-11-30T16:59:59.999Z', 'sold');
    await at('2026-11-30T17:00:00Z', 'given');
    expect(await listRedemptionsByDay(database, '2026-11', 'Asia/Jakarta')).toEqual([
      { day: '2026-11-30', source: 'sold', vouchers: 2, days: 14 },
    ]);
    expect(await listRedemptionsByDay(database, '2026-12', 'Asia/Jakarta')).toEqual([
      { day: '2026-12-01', source: 'given', vouchers: 1, days: 1 },
    ]);
  });

  it('has open vouchers until all are used, revoked or expired', async () => {
    await database.query(
      'update voucher set revoked_at = clock_timestamp() where redeemed_at is null and revoked_at is null',
    );
    expect(await hasOpenVouchers(database)).toBe(false);
    const { batch } = await create();
    expect(await hasOpenVouchers(database)).toBe(true);
    await expire(batch);
    expect(await hasOpenVouchers(database)).toBe(false);
  });
});

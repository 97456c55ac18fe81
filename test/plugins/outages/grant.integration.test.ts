import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccount } from '#core/business/accounts/accounts.ts';
import { revokeDays } from '#core/business/accounts/ledger.ts';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { getCommandOperator, getCoreAction, runAction } from '#core/business/operator-actions/actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createReading } from '#core/web/resources/resource.ts';
import { declineAction, grantAction } from '../../../plugins/outages/actions.ts';
import { findAffectedAccounts, grantForOutage } from '../../../plugins/outages/grant.ts';
import { affectedReading } from '../../../plugins/outages/readings.ts';
import { outages } from '../../../plugins/outages/resource.ts';
import { createBuyer, createPaymentHost } from '../../core/business/payments/fixture.ts';
import { RecordBook } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { listToldActions } from '../../support/told-actions.ts';

let database: Database;
let host: Host;
beforeAll(async () => {
  database = await createTestDatabase();
  host = createPaymentHost(database, []);
});
afterAll(() => database[Symbol.asyncDispose]());

const run = (action: unknown, handle: string, input: Readonly<Record<string, unknown>>) =>
  runAction(host, getCommandOperator(), action as ActionKind, handle, input);
const record = async (subject: string) => (await listToldActions(database, { subject, limit: 1 }))[0];

type Listed = Readonly<Record<string, readonly { readonly id: string }[] | undefined>>;

async function read(path: string, query: Readonly<Record<string, string>> = {}): Promise<Listed> {
  const reading = [affectedReading, createReading(outages)].find((one) => one.path === path);
  return (await reading?.read(host, '', new URLSearchParams(query))) as Listed;
}

describe('an outage', () => {
  it('is made good to those who had paid time in it, once', async () => {
    const [hit, other] = [await createBuyer(database), await createBuyer(database)];
    await run(getCoreAction('account.add_days'), hit, { days: 1, note: 'bought' });
    const now = Date.now();
    const outage = { since: now - 60_000, until: now + 3_600_000 };
    const ids = new Set((await findAffectedAccounts(database, outage)).map(({ id }) => id));
    expect([ids.has(hit), ids.has(other)]).toEqual([true, false]);
    const grant = { days: 1, note: 'outage of today', label: 'Sorry for today' };
    expect([await grantForOutage(host, hit, grant), await grantForOutage(host, hit, grant)]).toEqual([true, false]);
    expect((await findAccount(database, hit)).periods.map(({ label }) => label)).toEqual(['1 day', 'Sorry for today']);
  });

  it('is not made good again to an account whose days were revoked', async () => {
    const hit = await createBuyer(database);
    const grant = { days: 1, note: 'outage of yesterday', label: 'Sorry for yesterday' };
    expect(await grantForOutage(host, hit, grant)).toBe(true);
    await database.fork().transactional((transaction) => revokeDays(transaction, hit, 1, 'abuse'));
    expect(await grantForOutage(host, hit, grant)).toBe(false);
  });

  it('of a model is made good to those who requested it in the span', async () => {
    const [hit, early, other] = [await createBuyer(database), await createBuyer(database), await createBuyer(database)];
    const byAlias = await createBuyer(database);
    await database.query('create table if not exists request_log_p partition of request_log default');
    const now = Date.now();
    const request = (account_id: string, model: string, started_at: number) =>
      new RecordBook(database).write({ account_id, model, started_at });
    await request(hit, 'dp/gpt', now - 60_000);
    await request(early, 'dp/gpt', now - 7_200_000);
    await request(other, 'dp/other', now - 60_000);
    await new RecordBook(database).write({
      account_id: byAlias,
      model: 'gpt',
      alias_of: 'dp/gpt',
      started_at: now - 60_000,
    });
    const affected = await findAffectedAccounts(database, { since: now - 3_600_000, until: now, model: 'dp/gpt' });
    expect(affected.map(({ id }) => id)).toEqual([hit, byAlias].toSorted());
  });

  it('is made good to all by one action, which is recorded at each account as well', async () => {
    const buyers = [await createBuyer(database), await createBuyer(database), await createBuyer(database)];
    const [day, full, blocked] = buyers as [string, string, string];
    for (const id of buyers)
      await run(getCoreAction('account.add_days'), id, { days: id === full ? 365 : 1, note: 'bought' });
    await run(getCoreAction('account.block'), blocked, { note: 'abuse' });
    const since = new Date(Date.now() - 60_000).toISOString();
    const until = new Date().toISOString();
    const words = { since, until, days: 1, label: 'Sorry for today', note: `outage ${day}` };
    const { result } = await run(grantAction, '', words);
    expect(result).toMatchObject({
      failed: expect.arrayContaining([{ account: full, message: expect.stringMatching(/365 days/) }]),
    });
    expect(await record(day)).toMatchObject({
      action: 'account.add_days',
      note: `days: 1, label: Sorry for today, outage ${day}`,
      outcome: 'done',
    });
    expect((await record(blocked))?.action).toBe('account.block');
    expect(await record('outage')).toMatchObject({
      action: 'outage.grant_days',
      note: expect.stringContaining(since),
      outcome: 'done',
    });
    expect((await run(grantAction, '', words)).result).toMatchObject({ granted: 0 });
    expect((await listToldActions(database, { subject: day, limit: 9 })).map(({ note }) => note)).toEqual([
      `days: 1, label: Sorry for today, outage ${day}`,
      'days: 1, bought',
    ]);
    await expect(run(grantAction, '', { ...words, since: until, until: since })).rejects.toMatchObject({
      kind: 'span',
    });
  });

  it('is listed for programs with the accounts that it has hit', async () => {
    const hit = await createBuyer(database);
    await run(getCoreAction('account.add_days'), hit, { days: 1, note: 'bought' });
    const [since, until] = [new Date(Date.now() - 60_000).toISOString(), new Date().toISOString()];
    const accounts = (await read('/outage', { since, until }))['accounts'];
    expect(accounts).toEqual(expect.arrayContaining([expect.objectContaining({ id: hit })]));
    await expect(read('/outage', { since: until, until: since })).rejects.toMatchObject({ kind: 'span' });
  });

  it('is listed for programs with what it would give, until that is declined', async () => {
    const outage = crypto.randomUUID();
    await database.query(
      `insert into outage (id, incident_id, model, from_at, until_at)
       values (?, ?, 'dp/gpt-6-sol', clock_timestamp() - interval '2 hours', clock_timestamp() - interval '1 hour')`,
      [outage, crypto.randomUUID()],
    );
    const listed = async () => (await read('/outages'))['outages']?.find(({ id }) => id === outage);
    expect(await listed()).toMatchObject({ preview: { accounts: 0, seconds: 0 }, witnesses: [] });
    await expect(run(declineAction, '', { outage })).rejects.toMatchObject({ kind: 'invalid' });
    await run(declineAction, '', { outage, note: 'our own test' });
    expect(await listed()).toMatchObject({ declinedAt: expect.any(Date) });
    expect(await listed()).not.toHaveProperty('preview');
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import type { Command } from '#core/extension/commands/command.ts';
import type { Database } from '#core/platform/database/database.ts';
import { defineOutageCredit, defineOutageGrant } from '../../../plugins/outages/command.ts';
import { RecordBook } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { hostOn, runOneCommand } from '../../support/run-one-command.ts';
import { listToldActions } from '../../support/told-actions.ts';

let database: Database;
let accountId: string;
let email: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  email = `${randomUUID()}@example.com`;
  const period = { days: 3, reason: 'grant' } as const;
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani', email, period }));
});

/** What outages add to it. */
const account: Command = {
  name: 'account',
  define(parser, context) {
    for (const define of [defineOutageGrant, defineOutageCredit]) define(parser, context);
  },
};

/** Runs `daypass account …` and returns what it printed, and how it ended: 0, 1 failed, 2 usage, 3 not found. */
const gateway = (...words: string[]) => runOneCommand(account, hostOn(database), words);

async function daysLeft(): Promise<number> {
  const { periods } = await findAccount(database, accountId);
  return Math.round(((periods.at(-1)?.endsAt.getTime() ?? 0) - Date.now()) / 86_400_000);
}

describe('account grant-outage', () => {
  const [since = '', until = ''] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const span = ['--since', since, '--until', until];
  const grant = ['--days', '1', '--note', `outage ${randomUUID()}`, '--label', 'Sorry for today'];

  it('lists the accounts that an outage has hit and grants each the days, once for a note', async () => {
    const first = await gateway('grant-outage', ...span, ...grant, '--yes');
    expect(first).toMatchObject({ exitCode: 0, output: expect.stringContaining(email) });
    expect(first.output).toMatch(/granted [1-9]\d*, already had them 0, failed 0$/);
    expect(await daysLeft()).toBe(4);
    expect((await gateway('grant-outage', ...span, ...grant, '--yes')).output).toMatch(
      /granted 0, already had them [1-9]/,
    );
    expect(await daysLeft()).toBe(4);
    expect((await listToldActions(database, { subject: 'outage', limit: 1 }))[0]).toMatchObject({
      action: 'outage.grant_days',
    });
  });

  it('of a model hits only who has requested it, and asks first', async () => {
    await database.query('create table if not exists request_log_p partition of request_log default');
    const model = `dp/${randomUUID()}`;
    const known = ['--model', model];
    expect(await gateway('grant-outage', ...span, ...known, ...grant, '--yes')).toMatchObject({
      exitCode: 3,
      error: `Model "${model}" not found.`,
    });
    await new RecordBook(database).write({ account_id: accountId, model, started_at: Date.now() - 60_000 });
    const asked = await gateway('grant-outage', ...span, ...known, ...grant);
    expect(asked).toMatchObject({ exitCode: 2, error: expect.stringContaining('--yes') });
    expect(asked.output.match(/@example\.com/g)).toEqual(['@example.com']);
    expect(asked.output).toContain(email);
  });

  it('refuses a span that ends before it begins', async () => {
    expect(await gateway('grant-outage', '--since', '1h', '--until', '2h', ...grant, '--yes')).toMatchObject({
      exitCode: 2,
    });
  });
});

describe('account credit-outage', () => {
  it('declines an outage with a reason, and gives it back after all', async () => {
    const outage = randomUUID();
    await database.query(
      `insert into outage (id, incident_id, model, from_at, until_at)
       values (?, ?, 'dp/gpt-6-sol', clock_timestamp() - interval '2 hours', clock_timestamp() - interval '1 hour')`,
      [outage, randomUUID()],
    );
    expect((await gateway('credit-outage')).output).toMatch(new RegExp(`${outage}.+ 0 accounts would get 0 min`));
    expect(await gateway('credit-outage', '--decline', 'our own test')).toMatchObject({ exitCode: 2 });
    expect(await gateway('credit-outage', outage, '--decline', 'our own test')).toMatchObject({ exitCode: 2 });
    const declined = await gateway('credit-outage', outage, '--decline', 'our own test', '--yes');
    expect(declined).toMatchObject({ exitCode: 0, output: 'declined: the time of this outage is not credited' });
    expect((await listToldActions(database, { subject: 'outage', limit: 1 }))[0]).toMatchObject({
      action: 'outage.decline',
      note: expect.stringMatching(`^outage: ${outage}, model: .+, since: .+Z, until: .+Z, our own test$`) as string,
      outcome: 'done',
    });
    expect((await gateway('credit-outage')).output).toMatch(new RegExp(`${outage}.+ declined`));
    expect((await gateway('credit-outage', outage, '--yes')).output).toBe('0 accounts got their time back');
    expect((await gateway('credit-outage')).output).toMatch(new RegExp(`${outage}.+ given back`));
    expect(await gateway('credit-outage', outage)).toMatchObject({ output: 'its time has already been given back' });
    expect(await gateway('credit-outage', outage, '--decline', 'too late', '--yes')).toMatchObject({
      exitCode: 1,
      error: 'Customers have already been credited for this outage.',
    });
  });
});

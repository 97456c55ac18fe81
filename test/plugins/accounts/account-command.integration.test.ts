import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { accountCommand } from '../../../plugins/accounts/account/command.ts';
import { createTestDatabase } from '../../support/database.ts';
import { hostOn, runOneCommand } from '../../support/run-one-command.ts';
import { listToldActions } from '../../support/told-actions.ts';

let database: Database;
let accountId: string;
let key: string;
let name: string;
let email: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  name = `Ani ${randomUUID()}`;
  email = `${randomUUID()}@example.com`;
  ({ accountId, key } = await createAccount(database, 'dp', { name, email, period: { days: 3, reason: 'grant' } }));
});

/** Runs `daypass account …` and returns what it printed, and how it ended: 0, 1 failed, 2 usage, 3 not found. */
const gateway = (...words: string[]) => runOneCommand(accountCommand, hostOn(database), words);

async function gatewayJson(...words: string[]) {
  const { exitCode, output, error } = await gateway(...words);
  if (exitCode !== 0) throw new Error(error);
  return JSON.parse(output);
}

const secondsLeft = async () => {
  const { ends_at: end } = await gatewayJson('show', accountId, '--json');
  return Math.round((Date.parse(end) - Date.now()) / 60_000) * 60;
};
const day = 86_400;

describe('account show', () => {
  it('finds an account by id, e-mail address, key, hint and name, in any case', async () => {
    const { key: found } = await findAccount(database, accountId);
    for (const handle of [accountId, email.toUpperCase(), key, found?.hint ?? '', name.toLowerCase()])
      expect(await gatewayJson('show', handle, '--json')).toMatchObject({ account: accountId });
  });

  it('shows ledger and sessions, and never the key', async () => {
    await new Sessions(database).create(accountId, 'Firefox');
    const { output } = await gateway('show', accountId);
    expect(output).toContain(`${name} <${email}>`);
    expect(output).toMatch(/sessions +1/);
    expect(output).toMatch(/grant +3 +/);
    expect(output).not.toContain(key);
  });

  it('writes times in the zone of the service, or in another one, and names it', async () => {
    await database.query(`update account set created_at = '2026-11-21 18:30Z' where id = ?`, [accountId]);
    const local = (await gateway('show', accountId)).output;
    expect(local).toMatch(/created +2026-11-22 01:30\n/);
    expect(local).toMatch(/times +Asia\/Jakarta\n/);
    expect((await gateway('show', accountId, '--time-zone', 'UTC')).output).toMatch(/created +2026-11-21 18:30\n/);
    expect((await gateway('find', email)).output).toContain('plan until (Asia/Jakarta)');
  });

  it('lists the ids when several accounts have the name', async () => {
    const twin = await createAccount(database, 'dp', { name });
    const { exitCode, error } = await gateway('show', name);
    expect(exitCode).toBe(1);
    expect(error).toContain(accountId);
    expect(error).toContain(twin.accountId);
  });

  it('exits with 3 when there is no such account', async () => {
    expect(await gateway('show', 'nobody at all')).toMatchObject({
      exitCode: 3,
      error: 'No account has the name nobody at all. Search with: daypass account find nobody at all',
    });
  });

  it('keeps control characters of names from the terminal', async () => {
    const { accountId: foreign } = await createAccount(database, 'dp', { name: 'a\u001b[31mb' });
    expect((await gateway('show', foreign)).output).toContain('a\\x1b[31mb');
  });
});

describe('account find', () => {
  it('finds a part of the name or of the address', async () => {
    for (const words of [name.slice(4, 20).toUpperCase(), email.slice(0, 20)])
      expect(await gatewayJson('find', words, '--json')).toMatchObject([{ account: accountId, state: 'active' }]);
  });

  it('takes percent signs and quotes as they are', async () => {
    expect(await gatewayJson('find', `%' or 1=1 --`, '--json')).toEqual([]);
    expect((await gateway('find', `%' or 1=1 --`)).output).toBe('No account found.');
  });
});

describe('account list', () => {
  it('has pages, the newest first', async () => {
    const { accountId: newer } = await createAccount(database, 'dp', { name: 'Newer' });
    const { output } = await gateway('list', '--limit', '1');
    expect(output).toContain(newer);
    expect(output).toContain(`more: --after ${newer}`);
    expect(await gatewayJson('list', '--limit', '1', '--after', newer, '--json')).toMatchObject([
      { account: accountId },
    ]);
  });

  it('has the accounts of one state', async () => {
    await gateway('block', accountId, '--note', 'abuse');
    const blocked: { account: string }[] = await gatewayJson('list', '--state', 'blocked', '--json');
    expect(blocked.map(({ account }) => account)).toContain(accountId);
    const active: { account: string }[] = await gatewayJson('list', '--state', 'active', '--json');
    expect(active.map(({ account }) => account)).not.toContain(accountId);
  });

  it('refuses an unknown state', async () => {
    expect(await gateway('list', '--state', 'happy')).toMatchObject({ exitCode: 2 });
  });
});

describe('account block', () => {
  it('shows since when and why, until the account is unblocked', async () => {
    const blocked = await gatewayJson('block', email, '--note', 'resells the key', '--json');
    expect(blocked).toMatchObject({ blocked_at: expect.any(String), blocked_reason: 'resells the key' });
    const served = await gatewayJson('unblock', email, '--json');
    expect(served).toMatchObject({ blocked_at: null, blocked_reason: null });
  });

  it('needs a reason', async () => {
    expect(await gateway('block', email)).toMatchObject({ exitCode: 2 });
  });
});

describe('what a command does to an account', () => {
  it.each([
    [
      'account.add_days',
      ['grant', '--days', '4', '--note', 'outage', '--label', 'gift'],
      'days: 4, label: gift, outage',
    ],
    ['account.add_days', ['revoke', '--days', '2', '--note', 'mistake'], 'days: -2, mistake'],
    ['account.block', ['block', '--note', 'resells'], 'resells'],
    ['account.note', ['note', '--note', 'promised a call'], 'promised a call'],
    ['account.change_email', ['email', '--to', 'NEW', '--note', 'asked'], 'to: NEW, asked'],
    ['account.remove_sign_in', ['remove-sign-in', '--sign-in', 'google', '--note', 'lost'], 'sign_in: google, lost'],
    [
      'account.move_sign_in',
      ['move-sign-in', '--sign-in', 'google', '--to', 'OTHER', '--note', 'lost'],
      'sign_in: google, to: OTHER, lost',
    ],
  ])('is recorded as %s, with who and why: %j', async (action, [verb = '', ...words], note) => {
    const { accountId: other } = await createAccount(database, 'dp', { name: 'Other' });
    await database.query(`insert into identity (account_id, provider, subject, name) values (?, 'google', ?, 'Ani')`, [
      accountId,
      randomUUID(),
    ]);
    const named = (text: string) => text.replace('NEW', `new-${email}`).replace('OTHER', other);
    expect(await gateway(verb, accountId, ...words.map(named))).toMatchObject({ exitCode: 0 });
    const by = { operator: `command (${userInfo().username})`, outcome: 'done' };
    expect(await listToldActions(database, { subject: accountId, limit: 5 })).toMatchObject([
      { action, note: named(note), ...by },
    ]);
  });
});

describe('account grant and revoke', () => {
  it('add days and take them back, to the second, by entries of the ledger', async () => {
    await gateway('grant', accountId, '--days', '4', '--note', 'outage', '--label', 'gift');
    expect(await secondsLeft()).toBe(7 * day);
    await gateway('grant', accountId, '--days', '-1', '--note', 'granted twice');
    expect(await secondsLeft()).toBe(6 * day);
    const { ledger } = await gatewayJson('revoke', accountId, '--days', '2', '--note', 'mistake', '--json');
    expect(await secondsLeft()).toBe(4 * day);
    expect(ledger.map(({ reason }: { reason: string }) => reason)).toEqual(['grant', 'grant', 'revoke', 'revoke']);
  });

  it.each([
    ['nothing', ['grant', '--days', '0', '--note', 'x']],
    ['more than a year', ['grant', '--days', '366', '--note', 'x']],
    ['no reason', ['revoke', '--days', '1']],
    ['fewer than no days', ['revoke', '--days', '-1', '--note', 'x']],
  ])('refuse %s', async (_name, [verb = '', ...words]) => {
    expect(await gateway(verb, accountId, ...words)).toMatchObject({ exitCode: 2 });
  });

  it('exit with 1 when the account would have more than a year', async () => {
    expect(await gateway('grant', accountId, '--days', '365', '--note', 'x')).toMatchObject({ exitCode: 1 });
  });
});

/** Gives the account an order with a payment, a request with its content, a session and an identity. */
async function fill(): Promise<void> {
  await new Sessions(database).create(accountId, 'Firefox');
  const order = randomUUID();
  const reference = `ORD-${order.slice(0, 8)}-1`;
  const statements: [string, unknown[]][] = [
    [
      `insert into identity (provider, subject, account_id, email, name) values ('google', ?, ?, ?, 'Ani G')`,
      [order, accountId, email],
    ],
    [
      `insert into plan_order (id, code, account_id, days, price, currency, provider, state, expires_at, paid_at)
       values (?, ?, ?, 7, 95000, 'IDR', 'sandbox', 'paid', now(), now())`,
      [order, `ORD-${order.slice(0, 8)}`, accountId],
    ],
    [
      `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
       values (?, ?, 1, 'sandbox', 95000, 'IDR', now())`,
      [reference, order],
    ],
    [
      `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
       values (?, ?, ?, 'sandbox', ?, 95000, 'IDR', now(), 'activated', '{"odd": "\\u0000"}')`,
      [randomUUID(), order, reference, order],
    ],
    [`create table if not exists request_log_p partition of request_log default`, []],
    [`create table if not exists request_content_p partition of request_content default`, []],
    [
      `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, remote_address, user_agent)
       values (?, '2026-11-22', 'test', ?, 'chat', 'POST', '/v1/chat/completions', 'answered', '203.0.113.9', 'curl')`,
      [order, accountId],
    ],
    [
      `insert into request_content (id, started_at, part, is_cut, body) values (?, '2026-11-22', 'request', false, 'my secret diary')`,
      [order],
    ],
  ];
  for (const [sql, parameters] of statements) await database.query(sql, parameters);
}

describe('account export', () => {
  it('prints all that is stored about the account, without digests', async () => {
    await fill();
    const { output } = await gateway('export', email);
    const data = JSON.parse(output);
    expect(data).toMatchObject({
      account: [{ id: accountId, name, email }],
      identity: [{ provider: 'google' }],
      session: [{ user_agent: 'Firefox' }],
      plan_period: [{ days: 3 }],
      plan_order: [{ price: 95_000 }],
      payment: [{ amount: 95_000 }],
      payment_attempt: [{ number: 1 }],
      request_log: [{ remote_address: '203.0.113.9' }],
      request_content: [{ body: 'my secret diary' }],
      account_event: [{ name: 'plan.started' }, { name: 'session.created' }],
      api_key: [{ hint: expect.any(String) }],
    });
    expect(output).not.toMatch(/sha256/);
  });

  it('has nothing of another account', async () => {
    await fill();
    const other = await createAccount(database, 'dp', { name: 'Other' });
    const data: Record<string, unknown> = await gatewayJson('export', other.accountId);
    const filled = Object.entries(data).filter(([, rows]) => Array.isArray(rows) && rows.length > 0);
    expect(filled.map(([table]) => table).toSorted()).toEqual(['account', 'api_key']);
  });

  it('reads long tables in pages', async () => {
    await database.query(
      `insert into account_event (name, payload, dedupe_key)
       select 'key.rotated', jsonb_build_object('accountId', ?::text, 'n', n), ?::text || n from generate_series(1, 450) n`,
      [accountId, accountId],
    );
    const { account_event: events } = await gatewayJson('export', accountId);
    expect(new Set(events.map(({ payload }: { payload: { n?: number } }) => payload.n)).size).toBe(451);
  });
});

it('account show has what operators did and noted, the newest first', async () => {
  await gateway('note', accountId, '--note', 'wants an invoice');
  await gateway('block', accountId, '--note', 'resells the key');
  const by = `command (${userInfo().username})`;
  const { output } = await gateway('show', accountId);
  expect(output).toMatch(/actions[^]*account\.block .*resells the key\n.*account\.note .*wants an invoice/);
  expect((await gatewayJson('show', accountId, '--json')).actions).toMatchObject([
    { action: 'account.block', operator: by, outcome: 'done', note: 'resells the key' },
    { action: 'account.note', operator: by, outcome: 'done', note: 'wants an invoice' },
  ]);
});

describe('account delete', () => {
  it('removes what is personal and keeps what bookkeeping needs', async () => {
    await fill();
    await gateway('block', accountId, '--note', 'asked for deletion by ani');
    expect(await gateway('delete', email, '--yes')).toMatchObject({ exitCode: 0 });
    const { output } = await gateway('export', accountId);
    for (const personal of [name, email, 'Ani G', 'my secret diary', '203.0.113.9', 'asked for deletion'])
      expect(output).not.toContain(personal);
    expect(JSON.parse(output)).toMatchObject({
      account: [{ id: accountId, name: 'Deleted account' }],
      plan_period: [{ days: 3 }],
      plan_order: [{ price: 95_000 }],
      payment: [{ amount: 95_000 }],
      request_log: [{ outcome: 'answered', user_agent: null }],
      session: [],
      identity: [],
      api_key: [],
      request_content: [],
    });
  });

  it('is recorded with who and why', async () => {
    await gateway('delete', accountId, '--yes', '--note', 'asked by mail');
    expect(await listToldActions(database, { subject: accountId, limit: 5 })).toMatchObject([
      {
        action: 'account.delete',
        operator: `command (${userInfo().username})`,
        note: 'asked by mail',
        outcome: 'done',
      },
    ]);
  });

  it('lets the e-mail address be used again', async () => {
    await gateway('delete', accountId, '--yes');
    await expect(createAccount(database, 'dp', { name: 'Ani', email })).resolves.toMatchObject({
      hint: expect.any(String),
    });
  });

  it('can be repeated', async () => {
    await gateway('delete', accountId, '--yes');
    const { deleted_at: first } = await gatewayJson('show', accountId, '--json');
    const again = await gatewayJson('delete', accountId, '--yes', '--json');
    expect(again.deleted_at).toBe(first);
  });

  it('asks for confirmation, and changes nothing without a terminal', async () => {
    expect(await gateway('delete', accountId)).toMatchObject({ exitCode: 2, error: expect.stringContaining('--yes') });
    expect(await gatewayJson('show', accountId, '--json')).toMatchObject({ name, deleted_at: null });
  });

  it('waits for an order that can still be paid', async () => {
    await fill();
    await database.query(`update plan_order set state = 'pending', paid_at = null where account_id = ?`, [accountId]);
    expect(await gateway('delete', accountId, '--yes')).toMatchObject({
      exitCode: 1,
      error: expect.stringMatching(/^Order ORD-\w+ can still be paid\./),
    });
  });
});

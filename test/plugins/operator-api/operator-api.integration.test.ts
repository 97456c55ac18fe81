import { randomUUID } from 'node:crypto';
import { Server } from '@hapi/hapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { defineAction } from '#core/business/operator-actions/action-kind.ts';
import { keepActions } from '#core/business/operator-actions/actions.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { flagForeignMoney } from '#core/business/payments/flags.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { addUnauthenticated, startOfMinute } from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';
import { object } from '#core/platform/schema.ts';
import { createOperatorApiRoutes } from '../../../plugins/operator-api/routes.ts';
import { createToken, listTokens, revokeToken } from '../../../plugins/operator-api/tokens.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createBuyer, createPaymentHost } from '../../core/business/payments/fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { registeredHere } from '../../support/registered.ts';
import { listToldActions } from '../../support/told-actions.ts';

let database: Database;
let host: Host;
let server: Server;
let limit = 1_000;
const sections = new Map<string, () => object>([
  ['operator_api', () => ({ enabled: true, requests_per_minute: limit })],
  ['service', () => ({ time_zone: 'Asia/Jakarta' })],
  ['operators', () => ['ops@example.com']],
  ['mail', () => ({ smtp: 'smtp://127.0.0.1:9', from: 'shop@example.com', allow_without_tls: [] })],
]);
beforeAll(async () => {
  database = await createTestDatabase();
  const payments = createPaymentHost(database, [new FakeProvider().provider]);
  host = {
    ...payments,
    section: (section) => (sections.get(section.name)?.() ?? payments.section(section)) as never,
  };
  const { actions, operatorReadings } = await registeredHere();
  keepActions(host, actions);
  server = new Server();
  server.route(createOperatorApiRoutes(() => host, operatorReadings));
});
afterAll(() => database[Symbol.asyncDispose]());

const newToken = async (scope: 'read' | 'act', days = 1) =>
  (await createToken(database, { name: randomUUID(), scope, days })) ?? '';
const newAccount = async () => (await createAccount(database, 'dp', { name: 'Ani' })).accountId;

async function call(
  method: 'GET' | 'POST',
  path: string,
  { token, body, key }: { token?: string; body?: unknown; key?: string } = {},
) {
  const { statusCode, payload } = await server.inject({
    method,
    url: `/operator/api${path}`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: statusCode, json: JSON.parse(payload) };
}

const daysOf = async (accountId: string) => {
  const end = (await findAccount(database, accountId)).periods.at(-1)?.endsAt.getTime() ?? Date.now();
  return Math.round((end - Date.now()) / 86_400_000);
};

describe('a call', () => {
  it.each([
    ['without a token', async () => undefined],
    ['with an unknown token', async () => 'op_unknown'],
    ['with an expired token', () => newToken('act', 0)],
    [
      'with a revoked token',
      async () => {
        const token = await newToken('act');
        const [{ name } = { name: '' }] = await listTokens(database, 1);
        expect(await revokeToken(database, name)).toBe(true);
        return token;
      },
    ],
  ])('%s is refused', async (_name, find) => {
    const token = await find();
    const { status, json } = await call('GET', '/plans', token === undefined ? {} : { token });
    expect([status, json.error.code]).toEqual([401, 'unauthenticated']);
  });

  it('with a token that may only read changes nothing', async () => {
    const accountId = await newAccount();
    const path = `/accounts/${accountId}/block`;
    expect((await call('POST', path, { token: await newToken('read'), body: { note: 'x' } })).status).toBe(403);
    expect((await findAccount(database, accountId)).blockedAt).toBeUndefined();
  });

  it.each(['HEAD', 'OPTIONS', 'PUT', 'DELETE'])('with the method %s does nothing', async (method) => {
    const accountId = await newAccount();
    const path = `/accounts/${accountId}`;
    const headers = { authorization: `Bearer ${await newToken('act')}` };
    await call('POST', `${path}/block`, { token: headers.authorization.slice(7), body: { note: 'abuse' } });
    const url = `/operator/api${path}/unblock`;
    expect((await server.inject({ method, url, headers })).statusCode).toBe(404);
    expect((await findAccount(database, accountId)).blockedAt).toBeDefined();
    const reading = await server.inject({ method: 'HEAD', url: `/operator/api${path}`, headers });
    expect([reading.statusCode, reading.payload]).toEqual([200, '']);
  });

  it('is recorded with the name of its token', async () => {
    const accountId = await newAccount();
    const token = await newToken('act');
    const answer = await call('POST', `/accounts/${accountId}/add-days`, { token, body: { days: 2, note: 'outage' } });
    expect(answer).toEqual({ status: 200, json: { action: 'account.add_days', account: accountId } });
    const [{ name } = { name: '' }] = await listTokens(database, 1);
    expect(await listToldActions(database, { subject: accountId, limit: 5 })).toMatchObject([
      { operator: `api (${name})`, action: 'account.add_days', note: 'days: 2, outage', outcome: 'done' },
    ]);
  });

  it('compares a day with the books of the providers that had charges', async () => {
    const token = await newToken('act');
    const answer = await call('POST', '/books/reconcile', { token, body: { day: '2020-02-29' } });
    expect(answer).toEqual({ status: 200, json: { action: 'books.reconcile', books: 'books', compared: [] } });
    for (const body of [{ day: '2021-02-29' }, { day: '2020-02-29', time_zone: 'Mars' }])
      expect(await call('POST', '/books/reconcile', { token, body })).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid' } },
      });
    const body = { day: '2020-02-29', provider: 'nobody' };
    expect((await call('POST', '/books/reconcile', { token, body })).status).toBe(404);
  });

  it.each([
    ['no JSON', '{', /must be a JSON object/],
    ['an unknown member', { note: 'x', days: 1, day: 1 }, /"day" is not a known key; did you mean "days"\?$/],
    ['a missing note', { days: 1 }, /note/],
    ['too many days', { days: 366, note: 'x' }, /^"days" is 366; must be at most 365\.$/],
  ])('with %s is refused', async (_name, body, message) => {
    const accountId = await newAccount();
    const answer = await call('POST', `/accounts/${accountId}/add-days`, { token: await newToken('act'), body });
    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid']);
    expect(answer.json.error.message).toMatch(message);
    expect(await listToldActions(database, { subject: accountId, limit: 1 })).toEqual([]);
  });

  it('announces nothing for a time that does not exist, on no record', async () => {
    const texts = { text_en: 'We move.', text_id: 'Kami pindah.' };
    const span = { since: '2026-13-01T00:00Z', until: '2040-01-01T00:00Z' };
    const body = { kind: 'note', audience: 'all', ...span, ...texts };
    const answer = await call('POST', '/announcements/create', { token: await newToken('act'), body });
    expect([answer.status, answer.json.error]).toMatchObject([400, { code: 'invalid', message: /^"since" is/ }]);
    expect(await listToldActions(database, { subject: 'announcements', limit: 1 })).toEqual([]);
  });

  it('reads who sends requests without an account', async () => {
    const minute = startOfMinute(Date.now());
    await database.query('delete from unauthenticated_minute');
    const block = '2001:db8:1:2::/64';
    await addUnauthenticated(database, [{ minute, block, status: 401, requests: 7 }]);
    expect(await call('GET', '/unauthenticated', { token: await newToken('read') })).toEqual({
      status: 200,
      json: {
        requests: 7,
        blocks: [
          {
            address_block: block,
            block,
            requests: 7,
            last_minute: new Date(minute).toISOString(),
            statuses: [{ status: 401, requests: 7 }],
          },
        ],
      },
    });
  });

  it('reads what operators have done, of all or of one', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    const token = await newToken('act');
    for (const id of [one, other]) await call('POST', `/accounts/${id}/note`, { token, body: { note: `asks ${id}` } });
    const { json: all } = await call('GET', '/actions', { token });
    expect(all.actions.slice(0, 2).map(({ note }: { note: string }) => note)).toEqual([`asks ${other}`, `asks ${one}`]);
    const { json } = await call('GET', `/actions?subject=${one}`, { token });
    expect(json.actions).toMatchObject([{ action: 'account.note', subject: one, outcome: 'done', error: null }]);
  });

  it('reads as many actions of an account and an order as it did', async () => {
    const [account, order] = [await newAccount(), await startOrder(host, await createBuyer(database), 7)];
    for (const subject of [account, order.id])
      await database.query(
        `insert into operator_action (id, operator_id, operator, action, subject)
         select gen_random_uuid(), ?, 'api', 'account.note', ? from generate_series(1, 101)`,
        [randomUUID(), subject],
      );
    const token = await newToken('read');
    expect((await call('GET', `/accounts/${account}`, { token })).json.actions).toHaveLength(100);
    expect((await call('GET', `/orders/${order.code}`, { token })).json.actions).toHaveLength(100);
  });

  it('with a NUL character in its address is explained', async () => {
    const token = await newToken('act');
    for (const [method, path] of [
      ['GET', '/accounts/%00'],
      ['GET', '/orders/a%00b'],
      ['GET', '/margins?account=%00'],
      ['POST', '/accounts/%00/note'],
    ] as const) {
      const { status, json } = await call(method, path, {
        token,
        ...(method === 'POST' && { body: { note: 'none' } }),
      });
      expect([path, status, json.error?.code]).toEqual([path, 400, 'invalid']);
    }
  });

  it('after something that is no id is explained', async () => {
    const token = await newToken('read');
    for (const path of [
      '/accounts?after=x',
      '/requests?after=x',
      `/requests?after=req_${'f'.repeat(12)}7${'f'.repeat(19)}`,
    ]) {
      const { status, json } = await call('GET', path, { token });
      expect([path, status, json.error]).toMatchObject([path, 400, { code: 'invalid', message: /^"after" is "/ }]);
    }
    expect((await call('GET', `/accounts?after=${randomUUID().toUpperCase()}`, { token })).status).toBe(200);
  });

  it('over the limit is refused with the time of the next try', async () => {
    const token = await newToken('read');
    limit = 2;
    const answers = [];
    for (let index = 0; index < 3; index++) answers.push((await call('GET', '/plans', { token })).status);
    limit = 1_000;
    expect(answers).toEqual([200, 200, 429]);
  });

  it('does not lock an operator out', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Ops', email: 'ops@example.com' });
    const token = await newToken('act');
    const block = await call('POST', `/accounts/${accountId}/block`, { token, body: { note: 'mistake' } });
    expect([block.status, block.json.error.code]).toEqual([409, 'operator_account']);
    const removal = await call('POST', '/accounts/ops@example.com/delete', { token, body: { confirm: accountId } });
    expect([removal.status, removal.json.error.code]).toEqual([409, 'operator_account']);
    expect(await findAccount(database, accountId)).toMatchObject({ blockedAt: undefined, deletedAt: undefined });
  });

  it('resolves a flag that has no order, which a list shows', async () => {
    const token = await newToken('act');
    const about = `fake/${randomUUID()}`;
    const at = new Date().toISOString();
    const detail = { kind: 'payment' as const, amount: 95_000, currency: 'IDR', provider: 'fake', at };
    await database.fork().transactional((transaction) => flagForeignMoney(transaction, about, detail));
    const open = async () => {
      const { json } = await call('GET', '/flags', { token });
      return json.flags.find(({ subject }: { subject: string }) => subject === about);
    };
    const { id, money } = await open();
    expect(money).toEqual({
      kind: 'payment',
      amount: 95_000,
      amount_money: { amount: 95_000, currency: 'IDR' },
      currency: 'IDR',
      stated_amount: null,
      stated_amount_money: null,
    });
    const answer = await call('POST', `/flags/${id}/resolve`, { token, body: { note: 'sent back' } });
    expect(answer).toEqual({ status: 200, json: { action: 'flag.resolve', flag: id, resolved: 1 } });
    expect(await open()).toBeUndefined();
  });

  it.each(['/orders?day=yesterday', '/orders?state=open', '/accounts?state=open'])(
    'for %s gets an error that names the mistake',
    async (path) => {
      const { status, json } = await call('GET', path, { token: await newToken('read') });
      expect([status, json.error.code]).toEqual([400, 'invalid']);
    },
  );

  it('about nothing is not found', async () => {
    const token = await newToken('act');
    expect((await call('GET', '/orders/ORD-NONE', { token })).json.error.code).toBe('not_found');
    expect((await call('POST', '/orders/ORD-NONE/check', { token })).status).toBe(404);
    expect((await call('POST', '/orders/ORD-NONE/explode', { token })).json.error.message).toMatch(/openapi\.json/);
  });
});

describe('an idempotency key', () => {
  it('has a call done once, and answers its repetition alike', async () => {
    const accountId = await newAccount();
    const token = await newToken('act');
    const path = `/accounts/${accountId}/add-days`;
    const options = { token, key: 'chat-1', body: { days: 1, note: 'chat' } };
    const answers = [];
    for (let index = 0; index < 3; index++) answers.push(await call('POST', path, options));
    expect([new Set(answers.map((answer) => JSON.stringify(answer))).size, await daysOf(accountId)]).toEqual([1, 1]);
    const other = await call('POST', path, { ...options, body: { days: 9, note: 'chat' } });
    expect([other.status, other.json.error.code]).toEqual([422, 'key_reused']);
  });

  it('has ten calls at once done once', async () => {
    const accountId = await newAccount();
    const token = await newToken('act');
    const options = { token, key: 'race', body: { days: 1, note: 'chat' } };
    const calls = Array.from({ length: 10 }, () => call('POST', `/accounts/${accountId}/add-days`, options));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect([statuses.every((status) => status === 200 || status === 409), await daysOf(accountId)]).toEqual([true, 1]);
  });

  it('belongs to one token', async () => {
    const accountId = await newAccount();
    for (const token of [await newToken('act'), await newToken('act')])
      await call('POST', `/accounts/${accountId}/add-days`, { token, key: 'same', body: { days: 1, note: 'chat' } });
    expect(await daysOf(accountId)).toBe(2);
  });

  it('keeps no secret, whatever the words of its name', async () => {
    const codes = defineAction({
      name: 'lock.open',
      subject: { name: 'locks' },
      summary: 'open all',
      input: object({}),
      secrets: ['doorCodes'],
      perform: () => Promise.resolve({ doorCodes: ['s3cret'], doors: 1 }),
    });
    const token = await newToken('act');
    const lock = new Server();
    const locked = { ...host, keep: () => new Map([[codes.name, codes]]) as never };
    lock.route(createOperatorApiRoutes(() => locked, new Map()));
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'lock' };
    const open = async () =>
      JSON.parse((await lock.inject({ method: 'POST', url: '/operator/api/locks/open', headers })).payload);
    expect(await open()).toMatchObject({ door_codes: ['s3cret'], doors: 1 });
    expect(await open()).toEqual({ action: 'lock.open', doors: 1 });
  });

  it('that cannot be kept with its answer does not take the answer away', async () => {
    const accountId = await newAccount();
    const token = await newToken('act');
    const query: Database['query'] = (sql, parameters) =>
      sql.startsWith('update operator_call') ? Promise.reject(new Error('gone')) : database.query(sql, parameters);
    const broken = Object.assign(Object.create(database) as Database, { query });
    const lines: unknown[][] = [];
    const log = { ...host.log, error: (...line: unknown[]) => lines.push(line) } as Host['log'];
    const api = new Server();
    api.route(createOperatorApiRoutes(() => ({ ...host, database: broken, log }), new Map()));
    const { statusCode } = await api.inject({
      method: 'POST',
      url: `/operator/api/accounts/${accountId}/add-days`,
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': 'lost' },
      payload: JSON.stringify({ days: 1, note: 'chat' }),
    });
    expect([statusCode, await daysOf(accountId), lines.length]).toEqual([200, 1, 1]);
  });
});

describe('what is read', () => {
  it('is in snake case, without digests', async () => {
    const accountId = await newAccount();
    const { json } = await call('GET', `/accounts/${accountId}`, { token: await newToken('read') });
    expect(json).toMatchObject({ account: { id: accountId, request_count: 0 }, ledger: [], sign_ins: [], usage: [] });
    expect(JSON.stringify(json)).not.toMatch(/digest|sha256/);
  });

  it('has orders with their buyers, flags and prices', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    const token = await newToken('read');
    expect((await call('GET', `/orders/${order.code}`, { token })).json.order).toMatchObject({ code: order.code });
    expect((await call('GET', `/orders?words=${order.code}`, { token })).json.orders).toHaveLength(1);
    expect((await call('GET', '/orders?flagged=true', { token })).json.orders).toEqual([]);
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Jakarta' }).format(order.createdAt);
    const codesOf = async (query: string) =>
      (await call('GET', `/orders?account=${order.accountId}&${query}`, { token })).json.orders.map(
        ({ code }: { code: string }) => code,
      );
    expect(await codesOf(`day=${today}&wrong_first=true&state=pending`)).toEqual([order.code]);
    expect(await codesOf('day=2020-01-01')).toEqual([]);
  });

  it('is described, with every action', async () => {
    const { json } = await call('GET', '/openapi.json', { token: await newToken('read') });
    expect(json.openapi).toBe('3.1.0');
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining([
        '/accounts',
        '/orders/{handle}',
        '/orders/{handle}/refund',
        '/accounts/{handle}/move-sign-in',
        '/flags/{handle}/resolve',
        '/refunds/{handle}/close',
        '/routes/{handle}/reset',
        '/outage/grant-days',
        '/configuration',
        '/configuration/rollback',
      ]),
    );
  });
});

describe('mails', () => {
  it('are listed with their outcome, and sent again on record', async () => {
    const accountId = await newAccount();
    const [{ id = '' } = {}] = await database.query<{ id: string }>(
      `with e as (
         insert into account_event (name, payload, dedupe_key) values ('key.rotated', jsonb_build_object('accountId', ?::text), ?)
         returning id
       )
       insert into mail_message (event_id, account_id, state, error, finished_at)
       select id, ?, 'failed', 'no such user', clock_timestamp() from e returning event_id::text as id`,
      [accountId, randomUUID(), accountId],
    );
    const token = await newToken('act');
    const list = async (query: string) => (await call('GET', `/mails?${query}`, { token })).json.mails;
    expect(await list('undelivered=true')).toMatchObject([
      { id, event: 'key.rotated', account_id: accountId, state: 'failed', error: 'no such user' },
    ]);
    const answer = await call('POST', `/mails/${id}/send-again`, { token, body: { note: 'typo corrected' } });
    expect(answer).toEqual({ status: 200, json: { action: 'mail.send_again', mail: id } });
    expect(await list('undelivered=true')).toEqual([]);
    expect(await list(`account=${accountId}`)).toMatchObject([{ id, state: 'waiting' }]);
    expect(await listToldActions(database, { subject: accountId, limit: 1 })).toMatchObject([
      { action: 'mail.send_again', note: 'mailed: key.rotated, typo corrected' },
    ]);
    expect((await call('POST', '/mails/123456/send-again', { token })).status).toBe(404);
  });
});

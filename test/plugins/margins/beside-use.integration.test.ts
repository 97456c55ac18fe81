import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { marginReadings } from '../../../plugins/margins/margin-readings.ts';
import { RecordBook } from '../../core/gateway/records/record-fixture.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';
import { createOperatorToken } from '../../support/operator-token.ts';
import { type PageClient, signInAt } from '../../support/page-client.ts';

/** A rupiah for a token: what requests cost can be counted. */
const yaml = (cost: string) => `${wholePipeline}
operators: [ops@example.com]
operator_api: { enabled: true }
upstreams: { one: { format: chat, base_url: "http://127.0.0.1:9"${cost} } }
models:
  test: { routes: [one/shared] }
  other: { routes: [one/shared] }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yaml(', cost: { input: 1000000, output: 1000000 }') });
  const { database, accountId } = gateway;
  const answer = { started_at: Date.now(), account_id: accountId, route: 'one/shared' };
  await new RecordBook(database).write(
    { ...answer, model: 'dp/test', input_tokens: 7_000, output_tokens: 111 },
    { ...answer, model: 'dp/other', input_tokens: 20_000, output_tokens: 222 },
  );
  await sellLastMonth();
}, 60_000);
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** A plan of 7 days whose money was earned at once, in the middle of the last month of the service's time zone. */
async function sellLastMonth(): Promise<void> {
  const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Budi' });
  await gateway.database.query(
    `with o as (
       insert into plan_order (id, code, account_id, days, price, currency, provider, state, created_at, expires_at, paid_at)
       select gen_random_uuid(), 'ORD-MONTH', ?, 7, 95000, 'IDR', 'test', 'paid', at, at, at
       from (select (date_trunc('month', now() at time zone 'Asia/Jakarta') - interval '15 days') at time zone 'Asia/Jakarta' as at) t returning id, created_at as at
     ), a as (
       insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
       select 'ORD-MONTH.1', id, 1, 'test', 95000, 'IDR', at from o
     )
     insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     select gen_random_uuid(), id, 'ORD-MONTH.1', 'test', 'month', 95000, 'IDR', at, 'activated', '{}' from o`,
    [accountId],
  );
}

const signIn = (email: string) => signInAt(gateway.url, email);

/** The text of a page, whose margins have been read: the first reading of a span may take longer than a page waits. */
async function textOf(client: PageClient, path: string): Promise<string> {
  const { host } = gateway.gateway;
  await Promise.all(Object.values(marginReadings(host)).map((reading) => reading.get()));
  const { status, text } = await client.get(path);
  expect(status).toBe(200);
  return text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/[\s\u00A0]+/g, ' ');
}

async function margins(query: string) {
  const token = await createOperatorToken(gateway, 'read');
  const reply = await fetch(`${gateway.url}/operator/api/margins${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

it('an operator reads cost and margin along with usage: on the overview, by route and model, and of an account', async () => {
  const client = await signIn('ops@example.com');
  const overview = await textOf(client, '/operator');
  expect(overview).toContain('cost Rp 27.333');
  expect(overview).toContain('margin −Rp 27.333');
  const routes = await textOf(client, '/operator/routes');
  expect(routes).toMatch(/dp\/test.+Rp 7\.111.+dp\/other.+Rp 20\.222/);
  const account = await textOf(client, `/operator/accounts/${gateway.accountId}`);
  expect(account).toContain('margin of 30 days −Rp 27.333');
  expect(account).toMatch(/dp\/other.+Rp 20\.222.+dp\/test.+Rp 7\.111/);
});

it('the operator API adds them up by what is asked for, of all or of one account', async () => {
  expect((await margins('?span=today&by=model')).json).toMatchObject({
    is_declared: true,
    currency: 'IDR',
    taxes: [],
    unpriced: [],
    margins: [
      { model: 'dp/other', requests: 1, cost: '20222', earned: '0', margin: '-20222' },
      { model: 'dp/test', requests: 1, cost: '7111', earned: '0', margin: '-7111' },
    ],
  });
  const ofAccount = await margins(`?by=route&account=${gateway.accountId}`);
  expect(ofAccount.json['margins']).toMatchObject([{ route: 'one/shared', requests: 2, cost: '27333' }]);
  const days = (await margins('?span=7d&by=day')).json['margins'] as { cost: string }[];
  expect(days.map(({ cost }) => cost).filter((cost) => cost !== '0')).toEqual(['27333']);
});

it.each([
  ['?span=year', '"span" is "year"; use one of: today, 7d, 30d, month.'],
  ['?by=hour', '"by" is "hour"; use one of: plan, model, route, account, day.'],
  ['?by=day&account=x', 'One account has no margins by day; leave out "account", or use another "by".'],
])('the operator API refuses margins%s', async (query, message) => {
  expect(await margins(query)).toMatchObject({ status: 400, json: { error: { message } } });
});

it.each([
  ['30000', '30000', 'Rp 30.000'],
  ['30.000', '30000', 'Rp 30.000'],
  ['Rp 30,000', '30000', 'Rp 30.000'],
  ['30.00', '95000', 'Rp 95.000'],
  ['much', '95000', 'Rp 95.000'],
])('the price %s of a plan that Margins tries counts as %s', async (typed, price, other) => {
  const client = await signIn('ops@example.com');
  const path = `/operator/orders/margins?${new URLSearchParams({ span: 'month', price_7: typed })}`;
  expect(await textOf(client, path)).toContain(`Earned Rp 95.000; at this price ${other}`);
  expect((await client.get(path)).text).toContain(
    `name="price_7" type="text" maxlength="40" required inputmode="numeric" autocomplete="off" value="${price}"`,
  );
});

it('a tax on top of declared prices is in the cost, and page and API name it', async () => {
  await gateway.write(yaml(', cost: { input: 1000000, output: 1000000, tax: 11 }'));
  await gateway.gateway.reload();
  const client = await signIn('ops@example.com');
  expect(await textOf(client, '/operator/orders/margins?by=route')).toMatch(
    /Rp 30\.340.+Costs include tax on top of the declared prices: 11% of one\. Other prices are used as declared\./,
  );
  expect((await margins('?span=today&by=route')).json).toMatchObject({
    taxes: [{ percent: 11, of: ['one'] }],
    margins: [{ route: 'one/shared', cost: '30339.63' }],
  });
});

it('Margins names what has no cost, and who costs more than they pay, with the largest loss first', async () => {
  const { database } = gateway;
  const { accountId } = await createAccount(database, 'dp', { name: 'Citra' });
  const answer = { started_at: Date.now(), model: 'dp/test', output_tokens: 0 };
  await new RecordBook(database).write(
    { ...answer, account_id: accountId, route: 'one/shared', input_tokens: 100_000 },
    { ...answer, account_id: accountId, route: 'gone/shared', input_tokens: 5 },
  );
  // With other costs, they are read anew.
  await gateway.write(yaml(', cost: { input: 1000000, output: 1000000, tax: 10 }'));
  await gateway.gateway.reload();
  const client = await signIn('ops@example.com');
  const text = await textOf(client, '/operator/orders/margins?by=plan&span=today');
  expect(text).toContain('They count as free here: gone/shared.');
  expect(text).toMatch(/Accounts that cost more than they pay.+Citra.+−Rp 110\.000.+Test.+−Rp 30\.066/);
  expect(await textOf(client, '/operator/orders/margins?by=nothing&span=month')).toContain('100% of revenue');
});

it('customers read nothing of them', async () => {
  const client = await signIn('ani@example.com');
  for (const path of ['/dashboard', '/dashboard/models', '/dashboard/requests', '/account', '/status'])
    expect(await textOf(client, path)).not.toMatch(/27\.333|30\.340|30\.066|7\.111|20\.222|[Mm]argin/);
  expect((await client.get('/operator')).status).toBe(403);
});

it('without declared costs, pages and API have none', async () => {
  await gateway.write(yaml(''));
  await gateway.gateway.reload();
  const client = await signIn('ops@example.com');
  for (const path of ['/operator', '/operator/routes', `/operator/accounts/${gateway.accountId}`])
    expect(await textOf(client, path)).not.toMatch(/\bcost\b|Cost, 30 days|margin /);
  expect((await margins('')).json).toEqual({ is_declared: false, margins: [] });
});

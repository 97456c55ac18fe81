import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { readBalances } from '../../../plugins/balances/balances.ts';
import { queryBalances } from '../../../plugins/balances/query-balances.ts';
import { renewBalances } from '../../../plugins/balances/state.ts';
import { RecordBook } from '../../core/gateway/records/record-fixture.ts';
import { runCommand } from '../../support/command-line.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

vi.setConfig({ testTimeout: 60_000 });

const operator = 'ops@example.com';
const day = 86_400_000;
let vendor: FaultyUpstream;
let elsewhere: FaultyUpstream;
let gateway: TestGateway;
let ops: PageClient;
let handle: Handler;
beforeAll(async () => {
  vendor = await createUpstream((request, response) => handle(request, response), { seesBalances: true });
  elsewhere = await createUpstream((_request, response) => response.json(200, {}), { seesBalances: true });
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams:
  deep: { vendor: deepseek, base_url: "${vendor.url}/v1", api_keys: [key-one, key-two] }
  deep-messages: { vendor: deepseek-anthropic, base_url: "${vendor.url}/anthropic/v1", api_keys: [key-one] }
  other: { format: chat, base_url: "${elsewhere.url}/v1", api_keys: [key-three], cost: { input: 2, output: 8, currency: USD } }
models:
  alone: { routes: [deep/deepseek-chat] }
  backed: { routes: [deep/deepseek-chat, other/m] }
balances: { own: { other: { amount: 100, as_of: 2026-01-01 } } }
exchange_rates: { USD: 16000 }
operators: [${operator}]
`,
  });
  ops = new PageClient(gateway.url);
  await ops.submit('/sign-in', '/sign-in', { name: 'Ada', email: operator });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await vendor[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});
beforeEach(async () => {
  handle = balance('30.00');
  await gateway.database.query('delete from balance_reading');
});

const balance =
  (amount: string, isAvailable = true): Handler =>
  (_request, response) =>
    response.json(200, {
      is_available: isAvailable,
      balance_infos: [{ currency: 'USD', total_balance: amount, granted_balance: '0', topped_up_balance: amount }],
    });
const host = () => gateway.gateway.host;
const ask = () => renewBalances(host());
const deep = async () => (await readBalances(host())).find(({ upstreams }) => upstreams.includes('deep'));
/** The readings so far are older by this. */
const age = (ms: number) =>
  gateway.database.query(`update balance_reading set read_at = read_at - ? * interval '1 millisecond'`, [ms]);

it('each key is asked once, at its own host, and keys of one account count once', async () => {
  const before = vendor.requests.length;
  await ask();
  const asked = vendor.requests.slice(before).map(({ path, headers }) => [path, headers.authorization]);
  expect(asked.toSorted()).toEqual([
    ['/user/balance', 'Bearer key-one'],
    ['/user/balance', 'Bearer key-two'],
  ]);
  expect(elsewhere.requests).toHaveLength(0);
  expect(await deep()).toMatchObject({ upstreams: ['deep', 'deep-messages'], amount: 30, currency: 'USD' });
});

it('an instance whose clock is ahead deletes no readings before their time', async () => {
  const readings = async () => (await gateway.database.query('select 1 from balance_reading')).length;
  const ahead = { ...host(), now: () => Date.now() + 365 * day };
  await ask();
  const before = await readings();
  await queryBalances(ahead);
  expect(await readings()).toBeGreaterThan(before);
  await gateway.database.query(`update balance_reading set read_at = clock_timestamp() - interval '61 days'`);
  await ask();
  expect(await readings()).toBe(2);
});

it('the days that are left, and what stops then, follow from the use of a week', async () => {
  handle = balance('100.00');
  await ask();
  await age(7 * day - 60_000);
  handle = balance('30.00');
  await ask();
  const found = await deep();
  expect(found).toMatchObject({ lostModels: ['dp/alone'], backedModelCount: 1 });
  expect(found?.days).toBeCloseTo(3, 2);
});

it('operators read it on the page, among problems, on Routes and by command', async () => {
  handle = balance('100.00');
  await ask();
  await age(7 * day - 60_000);
  handle = balance('10.00');
  await ask();
  const page = (await ops.get('/operator/balances')).text;
  expect(page).toMatch(/pass(es lose| loses) 1 model when the balance runs out: dp\/alone\./);
  const { out } = await runCommand(['--config', gateway.file, 'balance', 'list'], {
    DATABASE_URL: gateway.database.url,
  });
  expect(out).toMatch(/deep, deep-messages +10\.00 USD +12\.86 USD +0\.\d +dp\/alone +vendor/);
  for (const shown of [page, out]) expect(shown).not.toMatch(/key-(one|two|three)/);
  expect((await ops.get('/operator')).text).toContain('10 USD left, 0.7 days at this week');
  expect((await ops.get('/operator/routes')).text).toContain('0.7 days left');
});

it.each<readonly [string, Handler, string]>([
  ['refuses', (_request, response) => response.json(401, { error: { message: 'bad key-one' } }), 'status 401: bad […]'],
  ['redirects', (_request, response) => response.json(302, {}, { location: 'http://127.0.0.1:1/' }), 'redirect'],
  [
    'answers without end',
    (_request, response) => response.json(200, { pad: 'x'.repeat(100_000) }),
    'larger than 65536 bytes',
  ],
  ['answers with a list of nothing', (_request, response) => response.json(200, '<html>'), 'not a JSON object'],
])('a vendor that %s is on record, and counts against no route', async (_what, handler, error) => {
  handle = handler;
  await ask();
  const rows = await gateway.database.query<{ amount: number | null; error: string }>(
    'select amount, error from balance_reading',
  );
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(row).toEqual({ amount: null, error: expect.stringContaining(error) });
  expect(await deep()).toMatchObject({ amount: undefined, days: undefined, isAvailable: true });
  const { routes } = (await (await fetch(`${gateway.operatorUrl}/readyz?verbose`)).json()) as {
    routes: { state: string; keys_cooling_down: number }[];
  };
  expect(routes.every(({ state, keys_cooling_down: cooling }) => state === 'closed' && cooling === 0)).toBe(true);
});

it('an account of which the vendor says that it refuses calls is empty, whatever is left', async () => {
  handle = balance('0.02', false);
  await ask();
  expect((await ops.get('/operator')).text).toContain('the vendor refuses calls until you pay (0.02 USD)');
});

it('an own figure shrinks by what the records cost', async () => {
  const book = new RecordBook(gateway.database);
  await book.write({
    started_at: Date.now() - 60_000,
    route: 'other/m',
    model: 'dp/backed',
    input_tokens: 5_000_000,
    output_tokens: 1_000_000,
  });
  const own = (await readBalances(host())).find(({ source }) => source === 'own');
  expect(own).toMatchObject({ upstreams: ['other'], amount: 82, currency: 'USD', lostModels: [], backedModelCount: 1 });
  expect(own?.perDay).toBeCloseTo(18 / 7, 1);
});

import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { readLists } from '../../../plugins/retirements/read-lists.ts';
import { readRetirements } from '../../../plugins/retirements/retirements.ts';
import { runCommand } from '../../support/command-line.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';
import { type PageClient, signInAt } from '../../support/page-client.ts';

vi.setConfig({ testTimeout: 60_000 });

const operator = 'ops@example.com';
let vendor: FaultyUpstream;
let gateway: TestGateway;
let ops: PageClient;
let customer: PageClient;
let handle: Handler;
beforeAll(async () => {
  vendor = await createUpstream((request, response) => handle(request, response));
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams:
  lab: { vendor: openai, base_url: "${vendor.url}/v1", api_keys: [lab-key, second-key] }
models:
  alone: { routes: [lab/model-4] }
  backed: { routes: [lab/model-4, lab/model-5] }
  new: { routes: [lab/model-5] }
operators: [${operator}]
`,
  });
  [ops, customer] = [await signIn(operator), await signIn('customer@example.com')];
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await vendor[Symbol.asyncDispose]();
});
beforeEach(async () => {
  handle = list({ id: 'model-4', created: 1 }, { id: 'model-5', created: 2 });
  await gateway.database.query('delete from retirement_route');
  await gateway.database.query(`delete from account_event where name = 'model.retiring'`);
});

const signIn = (email: string) => signInAt(gateway.url, email);

const list =
  (...data: readonly object[]): Handler =>
  (_request, response) =>
    response.json(200, { object: 'list', data });
const refuse =
  (status: number): Handler =>
  (_request, response) =>
    response.json(status, { error: { message: 'no' } });
const host = () => gateway.gateway.host;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const events = () =>
  gateway.database.query<{ state: string }>(
    `select payload ->> 'state' as state from account_event where name = 'model.retiring' order by id`,
  );
const retired = async () => (await readRetirements(host())).map(({ route, state }) => `${route} ${state}`);

it('each vendor is asked once a day for its list, at its own host with its key', async () => {
  const before = vendor.requests.length;
  await readLists(host());
  const asked = vendor.requests.slice(before).map(({ method, path, headers }) => [method, path, headers.authorization]);
  expect(asked).toEqual([['GET', '/v1/models', 'Bearer lab-key']]);
  expect(await retired()).toEqual([]);
});

it('a model that the list gives an end is announced before, once, and again in the last week', async () => {
  for (const [days, count] of [
    [40, 0],
    [20, 1],
    [20, 1],
    [5, 2],
  ] as const) {
    handle = list({ id: 'model-4', created: 1, shutdown_date: inDays(days) }, { id: 'model-5', created: 2 });
    // A vendor that moves the day is announced anew.
    await gateway.database.query(
      `update account_event set dedupe_key = replace(dedupe_key, ?, ?) where name = 'model.retiring'`,
      [inDays(20), inDays(days)],
    );
    await readLists(host());
    expect(await events()).toHaveLength(count);
  }
  expect(await readRetirements(host())).toMatchObject([
    {
      route: 'lab/model-4',
      state: 'ending',
      successor: 'model-5',
      models: ['dp/alone', 'dp/backed'],
      lost: ['dp/alone'],
    },
  ]);
});

it('operators and customers read it, and nothing is switched', async () => {
  handle = list({ id: 'model-4', created: 1, shutdown_date: inDays(5) }, { id: 'model-5', created: 2 });
  await readLists(host());
  const page = (await ops.get('/operator/retirements')).text;
  expect(page).toContain('model-5');
  expect((await ops.get('/operator')).text).toContain('1 model has no other route: dp/alone.');
  expect((await ops.get('/operator/routes')).text).toMatch(/Ends on \d/);
  const { out } = await runCommand(['--config', gateway.file, 'retirement', 'list'], {
    DATABASE_URL: gateway.database.url,
  });
  expect(out).toMatch(/lab\/model-4 +ending +\d{4}-\d\d-\d\d +dp\/alone, dp\/backed +dp\/alone +model-5/);
  const models = (await customer.get('/dashboard/models')).text;
  expect(models.match(/Ends on [^<]*; use dp\/(backed|new)/g)).toHaveLength(1);
  expect((await customer.get('/dashboard/models/dp%2Falone')).text).toMatch(/Ends on [^<]*; use dp\//);
  expect(
    host()
      .catalog.resolve('alone')
      ?.routes.map(({ id }) => id),
  ).toEqual(['lab/model-4']);
});

it('a model that the list had and lacks is missing, until the list has it again', async () => {
  await readLists(host());
  handle = list({ id: 'model-5', created: 2 });
  await readLists(host());
  expect(await retired()).toEqual(['lab/model-4 missing']);
  expect(await events()).toEqual([{ state: 'missing' }]);
  await readLists(host());
  expect(await events()).toHaveLength(1);
  handle = list({ id: 'model-4', created: 1 }, { id: 'model-5', created: 2 });
  await readLists(host());
  expect(await retired()).toEqual([]);
});

it.each([null, 'digest of a key that was replaced'])(
  'a model that was listed for %j is missing where no key has it',
  async (key) => {
    await readLists(host());
    await gateway.database.query('update retirement_route set listed_for = ?', [key]);
    const lacking = list({ id: 'model-5', created: 2 });
    handle = (request, response) =>
      request.headers.authorization === 'Bearer lab-key' ? refuse(401)(request, response) : lacking(request, response);
    await readLists(host());
    expect(await retired()).toEqual([]);
    handle = lacking;
    await readLists(host());
    expect(await retired()).toEqual(['lab/model-4 missing']);
  },
);

it.each<readonly [string, Handler]>([
  ['lists none of its models', list()],
  ['lists a part', (_request, response) => response.json(200, { data: [{ id: 'other' }], has_more: true })],
  ['refuses', refuse(401)],
  ['has no list', (_request, response) => response.json(404, {})],
])('a vendor that %s retires nothing', async (_what, handler) => {
  await readLists(host());
  handle = handler;
  await readLists(host());
  expect(await retired()).toEqual([]);
});

it('a model that was never listed is not missing', async () => {
  handle = list({ id: 'model-5', created: 2 });
  await readLists(host());
  await readLists(host());
  expect(await retired()).toEqual([]);
});

it('a model that only one of two keys sees is not missing when the other one answers', async () => {
  const all = list({ id: 'model-4', created: 1 }, { id: 'model-5', created: 2 });
  const some = list({ id: 'model-5', created: 2 });
  const asFirst =
    (first: Handler): Handler =>
    (request, response) =>
      (request.headers.authorization === 'Bearer lab-key' ? first : some)(request, response);
  handle = asFirst(all);
  await readLists(host());
  for (const [first, isMissing] of [
    [refuse(401), false],
    [refuse(503), false],
    [some, true],
    [refuse(401), true],
    [all, false],
  ] as const) {
    handle = asFirst(first);
    await readLists(host());
    expect(await retired()).toEqual(isMissing ? ['lab/model-4 missing'] : []);
  }
});

it('a model that the first key does not see is found with the second one', async () => {
  handle = (request, response) =>
    (request.headers.authorization === 'Bearer lab-key'
      ? list({ id: 'model-5', created: 2 })
      : list({ id: 'model-4', created: 1, shutdown_date: inDays(5) }))(request, response);
  await readLists(host());
  expect(await retired()).toEqual(['lab/model-4 ending']);
});

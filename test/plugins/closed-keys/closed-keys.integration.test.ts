import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { closureRules } from '#core/gateway/model-call/closure-rules.ts';
import { getKeyClosures } from '#core/gateway/model-call/key-closures.ts';
import { digestKey } from '#core/gateway/model-call/key-digest.ts';
import { deleteOldClosures, listClosedKeys } from '../../../plugins/closed-keys/closed-keys.ts';
import { ClosedKeyKeeper } from '../../../plugins/closed-keys/keeper.ts';
import { type ActionPage, describeActionPages } from '../../support/action-pages.ts';
import { runCommand } from '../../support/command-line.ts';
import { createUpstream, type FaultyUpstream } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';
import { type PageClient, signInAt } from '../../support/page-client.ts';
import { answer } from '../upstream/fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

const operator = 'ops@example.com';
const words = 'Your account has been locked';
let upstream: FaultyUpstream;
let gateway: TestGateway;
let ops: PageClient;
let customer: PageClient;
let isClosed = true;
const errors: string[] = [];
beforeAll(async () => {
  upstream = await createUpstream((request, response) => {
    if (isClosed && request.headers.authorization === 'Bearer first-key')
      return response.json(429, { error: { code: '1112', message: words } });
    return response.json(200, answer);
  });
  gateway = await startGateway({
    log: { info: () => undefined, warn: () => undefined, error: (text) => void errors.push(text) },
    yaml: `${wholePipeline}
upstreams: { glm: { vendor: zhipu, base_url: "${upstream.url}/v4", api_keys: [first-key, second-key] } }
models: { test: { routes: [glm/glm-5] } }
operators: [${operator}]
`,
  });
  [ops, customer] = [await signIn(operator), await signIn('customer@example.com')];
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const signIn = (email: string) => signInAt(gateway.url, email);

async function ask(): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: crypto.randomUUID() }] }),
  });
  await response.text();
  return response.status;
}

const triesOfFirst = () =>
  upstream.requests.filter(({ headers }) => headers.authorization === 'Bearer first-key').length;
const stored = () =>
  gateway.database.query<{ id: string; refusals: number; is_due: boolean }>(
    'select id, refusals, retry_at <= clock_timestamp() as is_due from closed_key',
  );
const command = (...parameters: string[]) =>
  runCommand(['--config', gateway.file, 'closure', ...parameters], { DATABASE_URL: gateway.database.url });

/** Another instance on the same database. */
async function otherInstance() {
  const { database } = gateway;
  const other = createTestHost({ database, catalog: gateway.gateway.host.catalog });
  await using stack = new AsyncDisposableStack();
  const keeper = stack.use(new ClosedKeyKeeper(other));
  await keeper.start();
  const whole = stack.move();
  onTestFinished(() => whole.disposeAsync());
  const closure = getKeyClosures(other).getByKey({ name: 'glm', baseUrl: `${upstream.url}/v4` }, 'first-key');
  return { other, closure, isShut: () => closure.until > other.monotonic() };
}

it('a closed key costs no answer, is said once, and is used no more', async () => {
  for (let request = 0; request < 6; request++) expect(await ask()).toBe(200);
  await vi.waitUntil(() => errors.length > 0);
  expect(triesOfFirst()).toBe(1);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain('Z.AI has closed the account of a key of upstream glm');
  expect(errors[0]).toContain(words);
  expect(await gateway.database.query(`select 1 from account_event where name = 'key.closed'`)).toHaveLength(1);
});

it('a closed key is listed by command, page and problem, by its place and never by itself', async () => {
  const { out } = await command('list');
  expect(out).toMatch(/glm +1 of 2 +account/);
  const { text } = await ops.get('/operator/closed-keys');
  expect(text).toContain('glm: key 1 of 2');
  const overview = (await ops.get('/operator')).text;
  expect(overview).toContain('has closed the account of an API key (glm: key 1 of 2)');
  expect(overview).toContain('Other keys of the upstream serve.');
  for (const shown of [out, text, overview, ...errors]) expect(shown).not.toContain('first-key');
});

it('another instance learns of a closed key, and reports the same without a second alert', async () => {
  const { other, closure, isShut } = await otherInstance();
  expect(isShut()).toBe(true);
  const closing = closureRules.find(({ vendor }) => vendor === 'Z.AI');
  closure.until = 0; // as if it had asked at the same moment
  getKeyClosures(other).report(closure, { upstream: 'glm', rule: closing!, message: words, request: 'r' });
  await vi.waitUntil(async () => (await stored())[0]?.refusals === 2);
  expect(await gateway.database.query(`select 1 from account_event where name = 'key.closed'`)).toHaveLength(1);
  expect(other.lines.join('\n')).not.toContain('has closed');
});

const retry: ActionPage = {
  path: '/operator/closed-keys/{id}/retry',
  action: 'closure.retry',
  async subject() {
    await gateway.database.query(`update closed_key set retry_at = clock_timestamp() + interval '1 day'`);
    const [key] = await stored();
    return {
      path: `/operator/closed-keys/${key?.id}/retry`,
      id: 'closures',
      state: async () => (await stored())[0]?.is_due,
    };
  },
  right: {},
  does: [false, true],
  note: undefined,
};
describeActionPages([retry], () => ({ gateway, ops, customer, operator, reason: '' }));

it('a key that is tried by hand and still refused stays closed for another day, and the request is served', async () => {
  const { isShut } = await otherInstance();
  const tries = triesOfFirst();
  const [before] = await stored();
  expect((await command('retry', before!.id)).code).toBe(0);
  await vi.waitUntil(() => !isShut());
  await vi.waitUntil(async () => (await ask()) === 200 && triesOfFirst() > tries);
  await vi.waitUntil(async () => (await stored())[0]?.refusals === before!.refusals + 1);
  await vi.waitUntil(isShut);
  expect(errors).toHaveLength(1);
});

it('a key that the vendor accepts again is open on every instance', async () => {
  const { isShut, closure } = await otherInstance();
  isClosed = false;
  const own = getKeyClosures(gateway.gateway.host).getByKey(
    { name: 'glm', baseUrl: `${upstream.url}/v4` },
    'first-key',
  );
  own.since = -Infinity; // longer ago than answers take
  const [key] = await stored();
  await command('retry', key!.id);
  await vi.waitUntil(() => !isShut());
  await vi.waitUntil(async () => (await ask()) === 200 && (await stored()).length === 0);
  await vi.waitUntil(() => closure.until === 0);
  expect(await listClosedKeys(gateway.gateway.host)).toEqual([]);
  expect((await ops.get('/operator/closed-keys')).text).toContain('No key is closed');
  expect((await command('list')).out).toContain('No closed key.');
});

it('a key that gateway.yaml no longer has is forgotten a week after its last time, and one that it has is kept', async () => {
  const { database, gateway: running } = gateway;
  const digests = {
    known: digestKey({ name: 'glm', baseUrl: `${upstream.url}/v4` }, 'second-key'),
    gone: digestKey({ name: 'glm', baseUrl: `${upstream.url}/v4` }, 'key-of-last-year'),
    recent: digestKey({ name: 'glm', baseUrl: `${upstream.url}/v4` }, 'key-of-yesterday'),
  };
  for (const [digest, days] of [
    [digests.known, 30],
    [digests.gone, 8],
    [digests.recent, 6],
  ])
    await database.query(
      `insert into closed_key (id, digest, upstream, vendor, part, words, source, closed_at, retry_at)
       values (gen_random_uuid(), ?, 'glm', 'Z.AI', 'key', '', '', now(), clock_timestamp() - ? * interval '1 day')`,
      [digest, days],
    );
  await deleteOldClosures(running.host);
  const left = await database.query<{ digest: string }>('select digest from closed_key');
  expect(left.map(({ digest }) => digest).toSorted()).toEqual([digests.known, digests.recent].toSorted());
});

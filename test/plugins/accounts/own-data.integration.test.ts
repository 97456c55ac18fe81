import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensurePartition } from '../../../plugins/log/partitions.ts';
import { type TestGateway, startGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
  await ensurePartition(gateway.database, today);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const today = Date.now() - (Date.now() % 86_400_000);
const noon = today + 43_200_000;
const path = '/account/data.json';

async function signedIn(name: string): Promise<PageClient> {
  const browser = new PageClient(gateway.url);
  await browser.submit('/sign-in', '/sign-in', { email: `${name}@example.com`, name });
  return browser;
}

/** The file by table, as far as these tests read it. */
type OwnData = Record<string, readonly Record<string, unknown>[]>;
const read = async (browser: PageClient) => JSON.parse((await browser.get(path)).text) as OwnData;

/** Requests of an account, more than one page of them, served by a route that is the operator's business. */
async function addRequests(name: string, count: number): Promise<void> {
  await gateway.database.query(
    `insert into request_log (id, started_at, instance, account_id, method, path, endpoint, outcome, model, route, attempts)
     select 'req_' || lpad(to_hex(?::bigint + n), 12, '0') || '7' || substr(md5(a.id::text || n), 1, 19),
       to_timestamp((?::bigint + n) / 1000.0), 'test', a.id, 'POST', '/v1/messages',
       'messages', 'answered', 'dp/test', 'secret/route', '[{"route": "secret/route"}]'
     from account a, generate_series(1, ?::int) n where a.email = ?`,
    [noon, noon, count, `${name}@example.com`],
  );
}

describe('the data of an account', () => {
  it('has its orders and all of its requests, and nothing of others', async () => {
    const [browser, other] = [await signedIn('data'), await signedIn('other')];
    const code = (await browser.submit('/buy', '/buy', { days: '7' })).location.split('/').at(-1);
    await other.submit('/buy', '/buy', { days: '1' });
    await addRequests('data', 501);
    const { account, identity, plan_order: orders, request } = await read(browser);
    expect(account).toMatchObject([{ name: 'data', email: 'data@example.com' }]);
    expect(identity).toMatchObject([{ provider: 'local', subject: 'data@example.com' }]);
    expect(orders).toMatchObject([{ code, days: 7, price: 95_000, state: 'pending' }]);
    expect(new Set(request?.map(({ id }) => id)).size).toBe(501);
  });

  it('names no route, no digest and no message of a provider', async () => {
    const browser = await signedIn('secret');
    await addRequests('secret', 1);
    const { text, headers } = await browser.get(path);
    expect(text).not.toMatch(/secret\/route|sha256|"raw"|attempts/);
    expect(headers['content-disposition']).toBe('attachment; filename="daypass-account.json"');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('is for its owner, a few times an hour', async () => {
    expect((await new PageClient(gateway.url).get(path)).location).toContain('/sign-in');
    const browser = await signedIn('often');
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await browser.get(path)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { createRequestId, parseRequestTime } from '#core/gateway/records/request-id.ts';
import type { Database } from '#core/platform/database/database.ts';
import { PostgresRecordStore } from '../../../../plugins/log/record-store.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { failover } from './fixture.ts';
import { idsIn, serveRequests } from './serve-fixture.ts';

const path = '/dashboard/requests';
const all = '/operator/requests';

let database: Database;
let pages: Awaited<ReturnType<typeof serveRequests>>;

beforeAll(async () => {
  database = await createTestDatabase();
  pages = await serveRequests(database);
});
afterAll(() => database[Symbol.asyncDispose]());

/** An account with these requests, the first one the newest. */
async function accountWith(...records: Partial<RequestRecord>[]) {
  const account = await pages.signIn();
  const now = Date.now();
  const ids = await account.write(...records.map((record, index) => ({ started_at: now - index * 1000, ...record })));
  return { ...account, ids };
}

describe('the list', () => {
  it.each([
    ['?show=errors', [2, 3]],
    ['?show=failover', [1]],
    ['?show=cached', [4]],
    ['?status=429', [3]],
    ['?status=5xx', [2]],
    ['?status=2xx', [0, 1, 4]],
    ['?status=stopped', [5]],
    ['?model=dp%2Fother', [0]],
    ['?model=unknown', []],
    ['?time=1h', [0, 1, 2, 3, 4, 5]],
    ['?time=all', [0, 1, 2, 3, 4, 5, 6]],
  ])('with %s has the requests %o', async (query, expected) => {
    const { browser, ids } = await accountWith(
      { model: 'dp/other' },
      failover,
      { outcome: 'failed', status: 502, error_code: 'upstream_failed' },
      { outcome: 'refused', status: 429, error_code: 'rate_limited' },
      { cache: 'hit' },
      { outcome: 'aborted' },
      { started_at: Date.now() - 40 * 86_400_000 },
    );
    const { payload } = await browser.get(path + query);
    expect(idsIn(payload)).toEqual(expected.map((index) => ids[index]));
  });

  it('continues page by page, and says how many there are', async () => {
    const { browser, ids } = await accountWith(...Array.from({ length: 30 }, () => ({})));
    const first = (await browser.get(path)).payload;
    const older = /href="([^"]*before=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = (await browser.get(older)).payload;
    expect([...idsIn(first), ...idsIn(second)]).toEqual(ids);
    expect([/30 requests since \w{3} \d+ \w+, \d\d:00\./.test(first), second.includes('before=')]).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    `?before=${createRequestId(0)}`,
    `?before=${createRequestId(Date.now() + 86_400_000)}`,
    '?before=garbage%00',
    '?status=9999&time=-1&show=__proto__',
    '?model=%00%27%3B--',
    `?model=${'x'.repeat(5000)}`,
    '?time=all&time=24h&live=2',
  ])('answers nonsense with a page: %s', async (query) => {
    const { browser } = await accountWith({});
    expect((await browser.get(path + query)).statusCode).toBe(200);
  });

  it('has nothing of another account, whatever its cursor', async () => {
    const { ids } = await accountWith({}, {});
    const other = await accountWith({ started_at: Date.now() - 60_000 });
    expect(idsIn((await other.browser.get(`${path}?before=${ids[0]}`)).payload)).toEqual(other.ids);
  });

  it.each([
    ['', 'No requests yet'],
    ['?before=req_', 'No requests yet'],
  ])('of a new account says how it begins: "%s"', async (query, text) => {
    const { browser } = await accountWith();
    expect((await browser.get(path + query)).payload).toContain(text);
  });

  it('tells nothing in this time from nothing that matches', async () => {
    const { browser } = await accountWith({ started_at: Date.now() - 40 * 86_400_000 });
    expect((await browser.get(path)).payload).toContain('No requests in this time');
    expect((await browser.get(`${path}?show=errors`)).payload).toContain('Nothing matches these filters.');
  });

  it('leads to the request whose id is searched', async () => {
    const { browser, ids } = await accountWith({});
    expect((await browser.get(`${path}?id=${ids[0]}`)).headers.location).toBe(`${path}/${ids[0]}`);
  });

  it('names what it ignores, escaped', async () => {
    const { browser } = await accountWith({});
    const { payload } = await browser.get(`${path}?status=${encodeURIComponent('<b>9999</b>')}`);
    expect(payload).toContain('Ignored: status &quot;&lt;b&gt;9999&lt;/b&gt;&quot;');
  });
});

describe('a request', () => {
  it.each(['', '/row'])('of another account is not found at …%s', async (part) => {
    const { ids } = await accountWith({});
    const { browser } = await accountWith();
    expect((await browser.get(`${path}/${ids[0]}${part}`)).statusCode).toBe(404);
  });

  it.each(['req_0', 'nonsense', createRequestId(0), '%00', '..%2f..'])('%s is not found', async (id) => {
    const { browser } = await accountWith();
    expect((await browser.get(`${path}/${id}`)).statusCode).toBe(404);
  });

  it('has its page and a part for its row', async () => {
    const { browser, ids } = await accountWith(failover);
    const page = await browser.get(`${path}/${ids[0]}`);
    const row = await browser.get(`${path}/${ids[0]}/row`, { 'hx-request': 'true' });
    expect([page.payload, row.payload].map((html) => html.includes('503 overloaded'))).toEqual([true, true]);
    expect([page.payload.startsWith('<!doctype'), row.payload.startsWith('<tr')]).toEqual([true, true]);
    expect(page.headers['cache-control']).toBe('no-store');
  });
});

describe('prompts and replies', () => {
  it('that the operator keeps are not shown, but said to be kept', async () => {
    const { browser, ids } = await accountWith({}, {});
    const [kept = '', other = ''] = ids;
    const line = { id: kept, started_at: parseRequestTime(kept), part: 'request', is_cut: false };
    const body = Buffer.from('my secret prompt').toString('base64');
    await new PostgresRecordStore(database).insertContent([JSON.stringify({ ...line, body })]);
    const { payload } = await browser.get(`${path}/${kept}`);
    expect([payload.includes('Stored by the operator'), payload.includes('my secret prompt')]).toEqual([true, false]);
    expect((await browser.get(`${path}/${other}`)).payload).not.toContain('Stored by the operator');
  });
});

describe('routes', () => {
  const surfaces = ['', '?show=failover', '/ID', '/ID/row', '.csv', '.jsonl'];

  it.each([
    ['numbers', ['Route 1', 'Route 2']],
    ['hidden', ['Attempt 1']],
  ] as const)('that customers see as %s have their names nowhere', async (sight, shown) => {
    const { signIn } = await serveRequests(database, { routes: sight });
    const { browser, write } = await signIn();
    const [id = ''] = await write({ started_at: Date.now(), ...failover });
    const texts = await Promise.all(
      surfaces.map(async (surface) => (await browser.get(path + surface.replace('ID', id))).payload),
    );
    expect(texts.filter((text) => /openai|other\/|org-acme/.test(text))).toEqual([]);
    for (const label of shown) expect(texts.join('\n')).toContain(label);
  });

  it('that customers see by name do not bring what vendors said', async () => {
    const { browser, write } = await pages.signIn();
    const [id = ''] = await write({ started_at: Date.now(), ...failover });
    for (const surface of surfaces)
      expect((await browser.get(path + surface.replace('ID', id))).payload).not.toContain('org-acme');
  });
});

async function lost(): Promise<never> {
  throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

describe('without PostgreSQL', () => {
  it('the page says that it is not available', async () => {
    const { browser } = await pages.signIn();
    const away = await serveRequests({ ...database, query: lost } as Database);
    const reply = await away.server.inject({
      url: path,
      headers: { accept: 'text/html', cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') },
    });
    expect([reply.statusCode, reply.payload.includes('temporarily unavailable')]).toEqual([503, true]);
  });
});

/** A customer with these requests, and an operator. */
async function operatorWith(...records: Partial<RequestRecord>[]) {
  const email = `${crypto.randomUUID()}@example.com`;
  const served = await serveRequests(database, { operators: [email] });
  const { browser: customer, ids, accountId } = await accountWith(...records);
  const { browser } = await served.signIn(email);
  return { customer, ids, accountId, browser };
}

describe('an operator', () => {
  it('sees the requests of all accounts with their accounts, or of one', async () => {
    const { browser, ids, accountId } = await operatorWith({ model: 'dp/seen' });
    const other = await accountWith({ model: 'dp/seen', started_at: Date.now() - 60_000 });
    const { payload } = await browser.get(`${all}?model=dp%2Fseen`);
    expect(idsIn(payload)).toEqual([...ids, ...other.ids]);
    expect(payload).toContain(`href="/operator/accounts/${accountId}"`);
    expect(idsIn((await browser.get(`${all}?account=${other.accountId}`)).payload)).toEqual(other.ids);
    const nobody = (await browser.get(`${all}?account=nobody`)).payload;
    expect([idsIn(nobody), nobody.includes('Nothing matches these filters.')]).toEqual([[], true]);
  });

  it('opens the request of any account by its id, also by the link that its owner has', async () => {
    const { browser, ids, accountId } = await operatorWith({});
    expect((await browser.get(`${path}/${ids[0]}`)).headers.location).toBe(`${all}/${ids[0]}`);
    for (const part of ['', '/row'])
      expect((await browser.get(`${all}/${ids[0]}${part}`)).payload).toContain(`/operator/accounts/${accountId}`);
    expect((await browser.get(`${path}/${createRequestId(0)}`)).statusCode).toBe(404);
  });

  it('alone sees them', async () => {
    const { customer, ids } = await operatorWith({});
    for (const closed of [all, `${all}/${ids[0]}`, `${all}/${ids[0]}/row`, `${all}?account=x`])
      expect((await customer.get(closed)).statusCode).toBe(403);
  });
});

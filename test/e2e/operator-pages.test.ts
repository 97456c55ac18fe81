import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findActivePeriod } from '#core/business/accounts/account-record.ts';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { RecordBook } from '../core/gateway/records/record-fixture.ts';
import { auditPage } from '../support/audit-page.ts';
import { type BrowserWindow, launchBrowser, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';
import { PageClient } from '../support/page-client.ts';
import { listToldActions } from '../support/told-actions.ts';

const operator = 'ops@example.com';
/** Readings are made again after five seconds. */
const patience = { timeout: 30_000, interval: 200 };
const attack = '"><img src=x onerror="wasAttacked=1">';

const announcement = `announcements:
  - { text: { en: We move on Sunday., id: Kami pindah hari Minggu. }, from: 2020-01-01T00:00Z, until: 2040-01-01T00:00Z }
`;

let browser: TestBrowser;
let gateway: TestGateway;
let client: PageClient;
beforeAll(async () => {
  const yaml = `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]
${announcement}`;
  [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ yaml })]);
  client = await signIn(operator);
}, 120_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

async function signIn(email: string): Promise<PageClient> {
  const fresh = new PageClient(gateway.url);
  await fresh.submit('/sign-in', '/sign-in', { name: 'Ada', email });
  return fresh;
}

/** A window in which the operator is signed in. */
async function openWindow(): Promise<BrowserWindow> {
  const window = await browser.open();
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: gateway.url }));
  await window.page.context().addCookies(cookies);
  return window;
}

/** An order of a new buyer, for which this much has come. */
async function buy(amount = 95_000, name = 'Rani'): Promise<Order> {
  const { host } = gateway.gateway;
  const { accountId } = await createAccount(gateway.database, 'dp', {
    name,
    email: `${crypto.randomUUID()}@example.com`,
  });
  const order = await startOrder(host, accountId, 7);
  const reference = order.attempt?.reference ?? '';
  await settle(gateway.gateway.host, 'sandbox', {
    reference,
    providerReference: order.attempt?.providerReference,
    paymentId: `pay-${order.code}`,
    state: 'paid',
    paid: { amount, currency: 'IDR' },
    raw: {},
  });
  publishLive(host, 'orders', [accountId]);
  return (await readOrder(gateway.database, { id: order.id })) as Order;
}

/** A request that fails: nothing listens at the upstream's address. */
async function callModel(): Promise<void> {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'dp/test', messages: [{ role: 'user', content: crypto.randomUUID() }] }),
  });
  await reply.text();
}

async function breakerState(): Promise<string | undefined> {
  const reply = await fetch(`${gateway.operatorUrl}/readyz?verbose`);
  const { routes } = (await reply.json()) as { routes: readonly RouteStatus[] };
  return routes[0]?.state;
}

const actionsOn = (subject: string) => listToldActions(gateway.database, { subject, limit: 10 });

describe('the operator pages', () => {
  it('are forbidden for other accounts, and redirect visitors to the sign-in', async () => {
    const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Budi' });
    const customer = await signIn('budi@example.com');
    for (const path of ['/operator', `/operator/accounts/${accountId}`, '/operator/health'])
      expect((await customer.get(path)).status).toBe(403);
    expect((await new PageClient(gateway.url).get('/operator')).location).toBe('/sign-in?next=%2Foperator');
  });

  it('ask for a new key of an upstream that rejects its key', async () => {
    const route = 'one/model-there';
    const error = 'key: 401 *revoked* <b>';
    const write = (attempt: { outcome: 'served' } | { outcome: 'failed'; fault: 'key'; error: string }, at: number) =>
      new RecordBook(gateway.database).write({ started_at: at, attempts: [{ route, ...attempt }] });
    await write({ outcome: 'failed', fault: 'key', error }, Date.now() - 60_000);
    const shown = /Upstream <strong>one<\/strong> rejects an API key[^<]*\(401 \*revoked\* &lt;b&gt;\)/;
    await vi.waitFor(async () => expect((await client.get('/operator')).text).toMatch(shown), patience);
    await write({ outcome: 'served' }, Date.now() - 30_000);
    await vi.waitFor(async () => expect((await client.get('/operator')).text).not.toMatch(shown), patience);
  });

  it('name accounts that share an address but for its case, with links to them', async () => {
    const { database } = gateway;
    // As another collation lets them be.
    await database.query('DROP INDEX account_email, account_email_ascii');
    const ids = await Promise.all(
      ['CITRA@EXAMPLE.COM', 'citra@example.com'].map(
        async (email) => (await createAccount(database, 'dp', { name: 'Citra', email })).accountId,
      ),
    );
    try {
      const { text } = await client.get('/operator');
      expect(text).toContain('These accounts have the same e-mail address except for upper and lower case.');
      for (const id of ids) expect(text).toContain(`href="/operator/accounts/${id}"`);
    } finally {
      await database.query('UPDATE account SET email = NULL WHERE id IN (?)', [ids]);
      await database.query('CREATE UNIQUE INDEX account_email ON account (lower(email))');
      await database.query('CREATE UNIQUE INDEX account_email_ascii ON account (lower(email COLLATE "C"))');
    }
    expect((await client.get('/operator')).text).not.toContain('same e-mail address');
  });

  it('have no accessibility or console error in both languages and themes, with any stored text', async () => {
    const order = await buy(59_000, attack);
    const flag = order.flags[0]?.id;
    await client.submit(
      `/operator/accounts/${order.accountId}/add-days`,
      `/operator/accounts/${order.accountId}/add-days`,
      {
        days: '2',
        note: attack,
      },
    );
    await new RecordBook(gateway.database).write({
      started_at: Date.now() - 120_000,
      account_id: order.accountId,
      model: `dp/${'long-'.repeat(12)}`,
      route: 'one/model-there',
      outcome: 'failed',
      attempts: [{ route: 'one/model-there', outcome: 'failed', fault: 'route', error: attack }],
    });
    await using window = await openWindow();
    const paths = [
      '/operator',
      '/operator/orders',
      `/operator/orders/${order.code}`,
      `/operator/flags/${flag}`,
      `/operator/orders?q=${encodeURIComponent(attack)}&state=nonsense&after=nonsense`,
      `/operator/accounts/${order.accountId}`,
      `/operator/accounts/${order.accountId}/add-days`,
      '/operator/accounts?state=active&after=nonsense',
      '/operator/routes',
      '/operator/health',
    ];
    // They share their components: each is looked at in one of the two ways, by axe where every-page.test.ts does not.
    const [light, dark] = [[{ language: 'en', theme: 'light' }], [{ language: 'id', theme: 'dark' }]] as const;
    for (const [index, path] of paths.entries()) {
      const axeWidths = /^\/operator\/\w+\/[^?]/.test(path) ? [1280] : [];
      const options = { views: index % 2 === 0 ? light : dark, widths: [320, 1280], axeWidths };
      expect(await auditPage(window, gateway.url + path, options)).toEqual([]);
    }
    expect(await window.page.evaluate('globalThis.wasAttacked')).toBeUndefined();
  }, 180_000);

  it('show new problems live, and record who resolved them and how', async () => {
    await using window = await openWindow();
    const { page } = window;
    await page.goto(`${gateway.url}/operator`);
    const order = await buy(1_000);
    const row = page.locator('.needs li', { hasText: order.code });
    await row.waitFor();
    expect(await row.textContent()).toContain('Rp\u00a01.000 of Rp\u00a095.000');
    await row.getByText('Resolve').click();
    await page.getByLabel('What happened to the money?').selectOption('money_back');
    await page.getByLabel('What did you do?').fill('paid back by bank transfer');
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.waitForURL(`${gateway.url}/operator?done=flag.resolve`);
    expect(await row.count()).toBe(0);
    const again = await readOrder(gateway.database, { id: order.id });
    expect(again?.flags).toMatchObject([
      { kind: 'wrong_amount', resolution: 'paid back by bank transfer', outcome: 'money_back' },
    ]);
    expect(await actionsOn(order.id)).toMatchObject([{ operator, action: 'flag.resolve', outcome: 'done' }]);
    await page.goto(`${gateway.url}/operator/orders/${order.code}`);
    expect(await page.locator('main').textContent()).toContain(operator);
  });

  it('refuse a flag that another operator has resolved', async () => {
    const order = await buy(1_000);
    const path = `/operator/flags/${order.flags[0]?.id}`;
    const open = await client.submit(path, path, { note: 'paid back', outcome: 'money_back' });
    expect(open).toMatchObject({ status: 303, location: '/operator?done=flag.resolve' });
    expect((await client.get(path)).status).toBe(404);
  });
});

describe('an operator', () => {
  it('finds an order by a part of its code or of the buyer’s address', async () => {
    const order = await buy();
    const { email = '' } = await findAccount(gateway.database, order.accountId);
    for (const words of [order.code.slice(4).toLowerCase(), email.slice(0, 12).toUpperCase()]) {
      const { text } = await client.get(`/operator/orders?q=${words}`);
      expect(text.match(/ORD-[0-9A-Z]{8}<\/a>/g)).toEqual([`${order.code}</a>`]);
    }
    expect((await client.get('/operator/orders?q=nobody-has-this')).text).toContain('Nothing found');
  });

  it('refunds an order that was paid back by hand, with a reason', async () => {
    const order = await buy();
    const path = `/operator/orders/${order.code}/refund/${order.payments[0]?.id}`;
    expect((await client.submit(path, path, { note: '  ' })).status).toBe(422);
    const amount = String(order.price);
    const reply = await client.submit(path, path, { amount, note: 'bought twice', manual: 'true' });
    expect(reply).toMatchObject({ status: 303, location: `/operator/orders/${order.code}?done=order.refund` });
    const refunded = await readOrder(gateway.database, { id: order.id });
    expect(refunded).toMatchObject({ state: 'refunded', refunds: [{ isManual: true, reason: 'bought twice' }] });
    expect(await actionsOn(order.id)).toMatchObject([
      {
        action: 'order.refund',
        note: expect.stringMatching(/^payment: [\w-]{36}, amount: \d+, manual: true, bought twice$/),
      },
    ]);
    expect((await client.get(path)).status).toBe(409);
  });

  it('adds days, takes them back, and refuses too many', async () => {
    const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Sari' });
    const path = `/operator/accounts/${accountId}/add-days`;
    await client.submit(path, path, { days: '3', note: 'outage' });
    await client.submit(path, path, { days: '-1', note: 'one too many' });
    const account = await findAccount(gateway.database, accountId);
    const end = findActivePeriod(account, account.readAt)?.endsAt.getTime() ?? 0;
    expect((end - account.readAt) / 86_400_000).toBeCloseTo(2, 2);
    const refused = await client.submit(path, path, { days: '365', note: 'a year' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('An account can have at most 365 days ahead.');
    expect((await client.submit(path, path, { days: '0', note: 'nothing' })).status).toBe(422);
    expect((await actionsOn(accountId)).map(({ outcome, note }) => [outcome, note])).toEqual([
      ['failed', 'days: 365, a year'],
      ['done', 'days: -1, one too many'],
      ['done', 'days: 3, outage'],
    ]);
  });

  it('blocks an account and serves it again', async () => {
    const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Dewi' });
    const path = `/operator/accounts/${accountId}`;
    await client.submit(`${path}/block`, `${path}/block`, { note: 'abuse' });
    expect((await findAccount(gateway.database, accountId)).blockedAt).toBeInstanceOf(Date);
    expect((await client.get(path)).text).toContain('abuse');
    await client.submit(`${path}/unblock`, `${path}/unblock`);
    expect((await findAccount(gateway.database, accountId)).blockedAt).toBeUndefined();
  });

  it('resets the breaker of a route', async () => {
    for (let count = 0; count < 6; count++) await callModel();
    expect(await breakerState()).not.toBe('closed');
    const path = '/operator/routes/reset';
    expect((await client.submit(`${path}?route=one/model-there`, path)).location).toBe(
      '/operator/routes?done=route.reset',
    );
    await expect.poll(breakerState).toBe('closed');
    expect((await client.get(`${path}?route=one/unknown`)).status).toBe(404);
    // Nothing is left to reset.
    expect((await client.get(`${path}?route=one/model-there`)).status).toBe(409);
  });
});

/** The job that watches models skips its turns meanwhile: it sees no trouble, and would write over an incident of a test. */
async function pauseWatching(): Promise<AsyncDisposable> {
  const watcher = new pg.Client(gateway.database.url);
  await watcher.connect();
  await watcher.query("select pg_advisory_lock(hashtext('watch-models'))");
  return { [Symbol.asyncDispose]: () => watcher.end() };
}

describe('the status page', () => {
  it('shows an incident while it is open, without a reload', async () => {
    await using window = await browser.open();
    const { page } = window;
    await page.goto(`${gateway.url}/status`);
    await using _paused = await pauseWatching();
    await gateway.database.query(
      `insert into incident (id, model, kind, cause, started_at, opened_at, checked_at)
       values (gen_random_uuid(), 'dp/test', 'down', 'routes_out', now() - interval '5 min', now(), now())
       on conflict (model) where ended_at is null do update set opened_at = now(), kind = 'down', cause = 'routes_out',
         calm_since = null`,
    );
    publishLive(gateway.gateway.host, 'health');
    await page.getByText('dp/test is not responding.').first().waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('has announcements, as home and the JSON do, each in its language', async () => {
    for (const path of ['/status', '/dashboard']) expect((await client.get(path)).text).toContain('We move on Sunday.');
    const json = (await (await fetch(`${gateway.url}/status.json?language=id`)).json()) as { announcements: object[] };
    expect(json.announcements).toEqual([
      {
        kind: 'note',
        text: 'Kami pindah hari Minggu.',
        model: null,
        from: '2020-01-01T00:00:00.000Z',
        until: '2040-01-01T00:00:00.000Z',
      },
    ]);
  });

  it('has feeds that browsers can parse and caches may keep', async () => {
    await using window = await browser.open();
    const atom = await fetch(`${gateway.url}/status.atom`);
    expect(atom.headers.get('content-type')).toMatch(/^application\/atom\+xml/);
    expect(atom.headers.get('cache-control')).toBe('public, max-age=10');
    await window.page.goto(`${gateway.url}/status`);
    const parse = `new DOMParser().parseFromString(${JSON.stringify(await atom.text())}, 'application/xml')`;
    expect(await window.page.evaluate(`${parse}.documentElement.nodeName`)).toBe('feed');
    const json = (await (await fetch(`${gateway.url}/status.json`)).json()) as { models: { id: string }[] };
    expect(json.models.map(({ id }) => id)).toEqual(['dp/test']);
  });
});

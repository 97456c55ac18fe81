import type { Server } from '@hapi/hapi';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { defineForm, type Page, Redirect } from '#core/web/pages/page.ts';
import { sessionsOf, signIn } from '#core/web/sessions/sign-in.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { Browser, pageAt, pageHost, servePages, testTexts } from '../page-fixture.ts';

let database: Database;
let isAway = false;
/** The database, unless it is away. */
let unsteady: Database;
let rani: string;
let budi: string;

beforeAll(async () => {
  database = await createTestDatabase();
  unsteady = {
    ...database,
    fork: () => database.fork(),
    query: async (sql, parameters) => {
      if (isAway) throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
      return database.query(sql, parameters);
    },
  };
  rani = (await createAccount(database, 'dp', { name: 'Rani', email: 'rani@example.com' })).accountId;
  budi = (await createAccount(database, 'dp', { name: 'Budi', email: 'Budi@Example.com' })).accountId;
});

beforeEach(() => {
  isAway = false;
});

afterAll(() => database[Symbol.asyncDispose]());

const fields = { type: 'object', properties: { name: { type: 'string' } } } as const;

/** Signs in the account that the form names. */
const signInPage: Page = pageAt('/sign-in', {
  forms: [
    defineForm({
      fields,
      async submit({ name = '' }, request) {
        await request.signIn(name);
        return new Redirect('/mine');
      },
    }),
  ],
});

const minePage: Page = pageAt('/mine', {
  role: 'account',
  show: ({ account, sessionId }) => ({ value: `${account?.email} ${sessionId}` }),
  forms: [
    defineForm({
      fields,
      async submit(_input, request) {
        await request.signOut();
        return new Redirect('/');
      },
    }),
  ],
});

interface Setup {
  readonly settings?: Partial<Host>;
  readonly hasSignIn?: boolean;
}

async function serve({ settings = {}, hasSignIn = true }: Setup = {}): Promise<Server & { readonly host: () => Host }> {
  const host = pageHost({ database: unsteady, operators: ['budi@example.com'], ...settings });
  return servePages(host, (server) => {
    server.gateway.texts(testTexts);
    for (const page of [pageAt('/'), minePage, pageAt('/operator', { role: 'operator' })]) server.gateway.page(page);
    if (hasSignIn) server.gateway.page(signInPage);
    server.route({ method: 'POST', path: '/act', options: { auth: 'session' }, handler: () => 'done' });
    server.route({
      method: 'GET',
      path: '/callback',
      handler: async (request, h) => {
        await signIn(request, h, rani);
        return h.redirect('/mine');
      },
    });
  });
}

async function signedIn(server: Server, accountId: string): Promise<Browser> {
  const browser = new Browser(server);
  const response = await browser.send('/sign-in', { name: accountId });
  expect([response.statusCode, response.headers.location]).toEqual([303, '/mine']);
  return browser;
}

describe('signing in', () => {
  it('shows the pages of the account', async () => {
    const browser = await signedIn(await serve(), rani);
    const { statusCode, payload } = await browser.get('/mine');
    expect(statusCode).toBe(200);
    expect(payload).toMatch(/<p id="value">rani@example\.com [\da-f-]{36}<\/p>/);
    expect((await browser.get('/')).payload).toContain('<p id="account">Rani</p>');
  });

  it('works from a route that is no page', async () => {
    const browser = new Browser(await serve());
    await browser.get('/callback');
    expect((await browser.get('/mine')).payload).toContain('rani@example.com');
  });

  it('takes a new token: the one from before is worth nothing', async () => {
    const server = await serve();
    const browser = new Browser(server);
    await browser.get('/sign-in');
    const before = browser.cookies.get('dp_session')!;
    await browser.send('/sign-in', { name: rani });
    const after = browser.cookies.get('dp_session')!;
    expect([before[0], after[0], after === before]).toEqual(['v', 's', false]);
    const planted = new Browser(server);
    planted.cookies.set('dp_session', before);
    expect((await planted.get('/mine')).statusCode).toBe(302);
  });

  it('ends the session that the browser had', async () => {
    const browser = await signedIn(await serve(), rani);
    const first = browser.cookies.get('dp_session')!;
    await browser.send('/sign-in', { name: budi });
    expect((await browser.get('/mine')).payload).toContain('Budi@Example.com');
    browser.cookies.set('dp_session', first);
    expect((await browser.get('/mine')).statusCode).toBe(302);
  });

  it('refuses forms that were opened before', async () => {
    const server = await serve();
    const browser = new Browser(server);
    const old = await browser.token('/sign-in', '/sign-in');
    await browser.send('/sign-in', { name: rani });
    expect((await browser.post('/sign-in', { name: budi, form_token: old })).statusCode).toBe(403);
  });

  it('keeps the session in a cookie that scripts and other sites do not get', async () => {
    const server = await serve();
    const browser = new Browser(server);
    const response = await browser.send('/sign-in', { name: rani });
    const cookie = String(response.headers['set-cookie']);
    expect(cookie).toMatch(/^dp_session=s[\w-]{43}; Max-Age=77\d{5}; .*HttpOnly; SameSite=Lax; Path=\/$/);
  });

  it.each([
    ['base_url', { service: { prefix: 'dp', baseUrl: 'https://ai.example' } as Host['service'] }, {}],
    ['the proxy', {}, { 'x-forwarded-proto': 'https' }],
  ])('keeps it in a cookie of this host and of HTTPS, when %s says so', async (_who, settings, headers) => {
    const server = await serve({ settings });
    const { 'set-cookie': cookie } = (await server.inject({ url: '/callback', headers })).headers;
    expect(String(cookie)).toMatch(/^__Host-dp_session=s.*; Secure; HttpOnly; SameSite=Lax; Path=\/$/);
  });

  it('names the cookie by the prefix of the service', async () => {
    const service = { name: 'Kelas', prefix: 'kelas', slug: 'kelas', baseUrl: 'http://localhost', contact: undefined };
    const { headers } = await (await serve({ settings: { service } })).inject('/callback');
    expect(String(headers['set-cookie'])).toMatch(/^kelas_session=/);
  });
});

describe('an error page', () => {
  it.each(['/nothing-here', '/assets/old/nothing.css'])('does not sign the reader out: %s', async (path) => {
    const browser = await signedIn(await serve(), rani);
    const token = browser.cookies.get('dp_session');
    expect((await browser.get(path)).statusCode).toBe(404);
    expect(browser.cookies.get('dp_session')).toBe(token);
    expect((await browser.get('/mine')).statusCode).toBe(200);
  });
});

describe('signing out', () => {
  it('ends the session for good', async () => {
    const browser = await signedIn(await serve(), rani);
    const token = browser.cookies.get('dp_session')!;
    await browser.send('/mine');
    expect(browser.cookies.has('dp_session')).toBe(false);
    browser.cookies.set('dp_session', token);
    expect((await browser.get('/mine')).statusCode).toBe(302);
  });

  it('elsewhere counts from the next request on', async () => {
    const server = await serve();
    const browser = await signedIn(server, rani);
    await sessionsOf(server.host()).revokeAll(rani);
    expect((await browser.get('/mine')).statusCode).toBe(302);
  });
});

describe('a page for accounts', () => {
  it('leads visitors to the sign-in and back', async () => {
    const { statusCode, headers } = await new Browser(await serve()).get('/mine?day=3&x=%26');
    expect([statusCode, headers.location]).toEqual([302, '/sign-in?next=%2Fmine%3Fday%3D3%26x%3D%2526']);
  });

  it('makes htmx reload the page around a part whose session has ended', async () => {
    const { headers, payload } = await new Browser(await serve()).get('/mine', { 'hx-request': 'true' });
    expect([headers['hx-refresh'], payload]).toEqual(['true', '']);
  });

  it('says what is missing where there is no sign-in', async () => {
    const { statusCode, payload } = await new Browser(await serve({ hasSignIn: false })).get('/mine');
    expect(statusCode).toBe(401);
    expect(payload).toContain('<h1>You were signed out.</h1>');
  });

  it('is JSON for clients that want JSON', async () => {
    const { statusCode, payload } = await (await serve()).inject('/mine');
    expect([statusCode, JSON.parse(payload)]).toEqual([401, { error: expect.objectContaining({ code: 'forbidden' }) }]);
  });

  it('leads from a form of a session that has ended to the sign-in', async () => {
    const server = await serve();
    const browser = await signedIn(server, rani);
    const form_token = await browser.token('/mine', '/mine');
    await sessionsOf(server.host()).revokeAll(rani);
    const { statusCode, payload } = await browser.post('/mine', { form_token });
    expect(statusCode).toBe(401);
    expect(payload).toContain('<a class="button primary" href="/sign-in">Sign in</a>');
  });

  it('is stored by no cache', async () => {
    const browser = await signedIn(await serve(), rani);
    expect((await browser.get('/mine')).headers['cache-control']).toBe('no-store');
  });

  it.each(['', 'v', 'nonsense', `s${'A'.repeat(43)}`, `s${'A'.repeat(44)}`, `s${'A'.repeat(42)}'`])(
    'is not shown to the cookie "%s"',
    async (token) => {
      const browser = new Browser(await serve());
      browser.cookies.set('dp_session', token);
      expect((await browser.get('/mine')).statusCode).toBe(302);
    },
  );
});

describe('a route of hapi with the strategy "session"', () => {
  it.each([
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
  ])('that changes something answers a POST with %j by %i', async (headers, status) => {
    const browser = await signedIn(await serve(), rani);
    expect((await browser.post('/act', {}, headers as Record<string, string>)).statusCode).toBe(status);
  });

  it('is for accounts alone', async () => {
    expect((await new Browser(await serve()).post('/act', {})).statusCode).toBe(401);
  });
});

describe('a page for operators', () => {
  it('is shown to accounts that gateway.yaml names, in any case', async () => {
    expect((await (await signedIn(await serve(), budi)).get('/operator')).statusCode).toBe(200);
  });

  it('is refused to other accounts', async () => {
    const { statusCode, payload } = await (await signedIn(await serve(), rani)).get('/operator');
    expect(statusCode).toBe(403);
    expect(payload).toContain('<h1>Your account does not have access to this page.</h1>');
  });

  it('leads visitors to the sign-in', async () => {
    expect((await new Browser(await serve()).get('/operator')).statusCode).toBe(302);
  });
});

describe('while the database is away', () => {
  it('a public page is shown as to a visitor', async () => {
    const browser = await signedIn(await serve(), rani);
    isAway = true;
    const { statusCode, payload } = await browser.get('/');
    expect(statusCode).toBe(200);
    expect(payload).toContain('<p id="account">nobody</p>');
  });

  it('a page for accounts reports the outage, without a stack and without a sign-out', async () => {
    const browser = await signedIn(await serve(), rani);
    isAway = true;
    const { statusCode, payload } = await browser.get('/mine');
    expect(statusCode).toBe(503);
    expect(payload).toContain('<h1>This page is temporarily unavailable.</h1>');
    expect(payload).not.toMatch(/ECONNREFUSED|10\.0\.0\.7|\bat \//);
    isAway = false;
    expect((await browser.get('/mine')).statusCode).toBe(200);
  });

  it('all failing pages share one log line', async () => {
    const lines: unknown[][] = [];
    const error = (...line: unknown[]) => void lines.push(line);
    const log = { info: () => undefined, warn: () => undefined, error };
    const browser = await signedIn(await serve({ settings: { log } }), rani);
    isAway = true;
    await Promise.all(Array.from({ length: 20 }, () => browser.get('/mine')));
    expect(lines).toEqual([['sessions cannot be read; public pages are shown as if signed out: connection refused']]);
  });

  it('pages for visitors are served as usual', async () => {
    const browser = new Browser(await serve());
    await browser.get('/');
    isAway = true;
    expect((await browser.get('/')).statusCode).toBe(200);
    expect((await browser.get('/mine')).statusCode).toBe(302);
  });
});

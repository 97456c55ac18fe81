import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../../support/gateway.ts';
import { PageClient } from '../../../support/page-client.ts';

const name = '"><img src=x onerror=wasAttacked=1>';
const yaml = `${wholePipeline}
service: { base_url: "http://ai.example", unsafe_public_demo: true }
upstreams: { one: { format: chat, base_url: "http://127.0.0.1:9/v1" } }
models: { test: { routes: [one/there], display_name: ${JSON.stringify(name)} } }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml });
}, 60_000);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
});

/** A browser that is signed in, to the account of the gateway's key unless to another one. */
async function signedIn({ url, database, accountId } = gateway): Promise<PageClient> {
  const client = new PageClient(url);
  const { token } = await new Sessions(database).create(accountId, 'Firefox');
  await client.get('/sign-in');
  const cookie = client.cookies.keys().find((key) => key.endsWith('session')) ?? '';
  client.cookies.set(cookie, token);
  return client;
}

/** Asks for a token as the script of the page does. */
async function askForToken(client: PageClient, headers: Record<string, string> = {}) {
  const cookie = [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
  const {
    statusCode,
    headers: replied,
    body,
  } = await request(`${gateway.url}/dashboard/try/token`, {
    method: 'POST',
    headers: { accept: 'application/json', 'sec-fetch-site': 'same-origin', cookie, ...headers },
  });
  const text = await body.text();
  return { status: statusCode, cache: replied['cache-control'], text };
}

describe('the token of the playground', () => {
  it('opens the API as the account', async () => {
    const { status, cache, text } = await askForToken(await signedIn());
    expect([status, cache]).toEqual([200, 'no-store']);
    const { token, expires_in } = JSON.parse(text) as { token: string; expires_in: number };
    expect(expires_in).toBe(600);
    const { statusCode, body } = await request(`${gateway.url}/v1/key`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(statusCode).toBe(200);
    expect(await body.json()).toMatchObject({ key: 'playground' });
  });

  it('is refused to visitors, to other sites, and to a session that has ended', async () => {
    const client = await signedIn();
    expect((await askForToken(new PageClient(gateway.url))).status).toBe(401);
    expect((await askForToken(client, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await askForToken(client, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
    await new Sessions(gateway.database).revokeAll(gateway.accountId);
    expect((await askForToken(client)).status).toBe(401);
  });

  it('is in no page, and neither is a key', async () => {
    const client = await signedIn();
    for (const path of ['/dashboard/try', '/dashboard/models', '/dashboard/connect']) {
      const { status, text } = await client.get(path);
      expect(status).toBe(200);
      expect(text).not.toMatch(/dp-at-|dp-\w{20,}/);
    }
  });
});

describe('the pages of models and tools', () => {
  it.each([
    '/dashboard/models?search=%00&kind=%22%3E%3Cscript%3E&sort=-x&page=1e9',
    '/dashboard/models?search=a&search=b&can=',
    '/dashboard/connect?tool=nothing&model=dp/none&system=plan9',
    '/dashboard/connect?tool=constructor&system=__proto__',
    '/dashboard/try?model=%22%3E%3Cscript%3E',
  ])('take nonsense in %s for nothing', async (path) => {
    const { status, text } = await (await signedIn()).get(path);
    expect(status).toBe(200);
    expect(text).not.toContain('"><script>');
  });

  it('print names of gateway.yaml as text', async () => {
    const { text } = await (await signedIn()).get('/dashboard/models');
    expect(text).toContain('onerror=wasAttacked');
    expect(text).not.toContain('<img src=x');
  });

  it('fill the settings in with this gateway, for the system of the browser', async () => {
    const client = await signedIn();
    const reply = await client.get('/dashboard/connect?tool=codex', { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0)' });
    expect(reply.text).toContain('%USERPROFILE%\\.codex\\daypass.config.toml');
    expect(reply.text).toContain('http://ai.example/v1');
    expect(reply.text).toContain('dp/test');
  });

  it('say to an account without days what its key can do about the models', async () => {
    const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Budi' });
    const [without, having] = [await signedIn({ ...gateway, accountId }), await signedIn()];
    expect((await without.get('/dashboard/models')).text).toContain('No active pass.');
    expect((await having.get('/dashboard/models')).text).not.toContain('No active pass.');
  });

  it('are for accounts alone', async () => {
    for (const path of ['/dashboard/try', '/dashboard/models', '/dashboard/connect']) {
      expect((await new PageClient(gateway.url).get(path)).location).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
    }
  });

  it('refuse a conversation with a model that does not exist, and keep the message', async () => {
    const client = await signedIn();
    const reply = await client.submit('/dashboard/try', '/dashboard/try', { model: 'dp/none', message: 'keep me' });
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('keep me');
  });
});

describe('a catalog without models', () => {
  it('leaves every page with a sentence', async () => {
    await using empty = await startGateway({ yaml: `${wholePipeline}\nupstreams: {}\nmodels: {}\n` });
    const client = await signedIn(empty);
    for (const path of ['/dashboard/try', '/dashboard/models', '/dashboard/connect']) {
      const { status, text } = await client.get(path);
      expect([status, text.includes('card empty')]).toEqual([200, true]);
    }
  });
});

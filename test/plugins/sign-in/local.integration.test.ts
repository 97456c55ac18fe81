import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertAccount } from '#core/business/accounts/accounts.ts';
import { generateApiKey } from '#core/business/accounts/api-key.ts';
import type { IdentityKey } from '#core/business/accounts/identities.ts';
import { removeSignIn } from '#core/business/accounts/recovery.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { completeSignIn } from '../../../plugins/sign-in/admit.ts';
import { type TestGateway, startGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const client = (headers: Record<string, string> = {}) => new PageClient(gateway.url, headers);

async function signIn(email: string, next = '') {
  const browser = client();
  const reply = await browser.submit(`/sign-in${next === '' ? '' : `?next=${encodeURIComponent(next)}`}`, '/sign-in', {
    email,
    name: 'Wati',
  });
  return { browser, reply };
}

/** The fields of a form on the page, and the cookie that they belong to. */
async function fields(action = '/sign-in') {
  const browser = client();
  const { text } = await browser.get('/sign-in');
  const [, form = ''] = text.split(`action="${action}"`);
  const form_token = /name="form_token" value="([^"]+)"/.exec(form)?.[1] ?? '';
  return { form_token, cookie: browser.cookies.get('dp_session') ?? '' };
}

describe('local sign-in', () => {
  it('creates an account at the first sign-in and leads to its key', async () => {
    const { browser, reply } = await signIn('wati@example.com');
    expect([reply.status, reply.location]).toEqual([303, '/account/key']);
    expect((await browser.follow(reply)).text).toContain('Your key is ready.');
  });

  it('finds the account again, whatever the case of the address', async () => {
    await signIn('Again@example.com');
    const { reply } = await signIn('again@Example.com');
    expect(reply.location).toBe('/dashboard');
    const [row] = await gateway.database.query<{ count: number }>(
      `select count(*)::int from account where lower(email) = 'again@example.com'`,
    );
    expect(row?.count).toBe(1);
  });

  it('leads back to the page that was asked for', async () => {
    const browser = client();
    const asked = await browser.get('/account/key?from=test');
    expect(asked.location).toBe('/sign-in?next=%2Faccount%2Fkey%3Ffrom%3Dtest');
    const reply = await browser.submit(asked.location, '/sign-in', { email: 'asked@example.com' });
    expect(reply.location).toBe('/account/key?from=test');
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '\\/evil.example',
    'javascript:alert(1)',
    '/%0d%0aset-cookie:x=1/\r\nevil',
    '/sign-in?next=/sign-in',
    '/\0',
    '/\u007f',
    '/\u{1f600}',
    '/sign-in/google',
    '/sign-out',
    'evil.example',
  ])('stays on this site with next=%j', async (next) => {
    await signIn('old@example.com');
    const { reply } = await signIn('old@example.com', next);
    expect([reply.status, reply.location]).toEqual([303, '/dashboard']);
  });

  it('leads to the demo account, where the requests of the printed key are, while there is one', async () => {
    expect((await client().get('/sign-in')).text).not.toContain('/sign-in/demo');
    const key = generateApiKey('dp');
    const { accountId } = await gateway.database
      .fork()
      .transactional((transaction) => insertAccount(transaction, 'dp', { name: 'Demo', key }));
    await writeFile(join(gateway.gateway.host.dataFolder, 'demo-key'), `${key}\n`);
    const browser = client();
    const reply = await browser.submit('/sign-in?next=/dashboard/requests', '/sign-in/demo');
    expect([reply.status, reply.location]).toEqual([303, '/dashboard/requests']);
    const sessions = await gateway.database.query('select 1 from session where account_id = ?', [accountId]);
    expect(sessions).toHaveLength(1);
    const { cookie, ...form } = await fields('/sign-in/demo');
    await rm(join(gateway.gateway.host.dataFolder, 'demo-key'));
    const late = client();
    late.cookies.set('dp_session', cookie);
    expect((await late.post('/sign-in/demo', form)).status).toBe(404);
  });

  it('is marked as one for trying out', async () => {
    expect((await client().get('/sign-in')).text).toContain('Your identity is not verified.');
  });

  it('refuses an address that another account has, and keeps what was typed', async () => {
    await gateway.database.query(
      `insert into account (id, name, email) values (gen_random_uuid(), 'Other', 'taken@example.com')`,
    );
    const { reply } = await signIn('Taken@example.com');
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('Another account has this e-mail address.');
    expect(reply.text).toContain('value="Taken@example.com"');
  });

  it.each([
    ['an address of 321 characters', { email: `a@${'b'.repeat(319)}` }],
    ['a name of 101 characters', { email: 'long@example.com', name: 'x'.repeat(101) }],
    ['an address without @', { email: 'example.com' }],
  ])('refuses %s', async (_what, values) => {
    expect((await client().submit('/sign-in', '/sign-in', values)).status).toBe(422);
  });

  it('refuses a blocked account', async () => {
    await signIn('blocked@example.com');
    await gateway.database.query(`update account set blocked_at = now() where email = 'blocked@example.com'`);
    const { reply } = await signIn('blocked@example.com');
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining('This account is blocked.')]);
  });

  it('has expired when it is removed before its session begins', async () => {
    const { database } = gateway;
    await using host = Object.assign(createTestHost(), { database });
    const profile = { provider: 'local', subject: 'gone@example.com', email: 'gone@example.com', name: '' };
    const begin = async (accountId: string, identity: IdentityKey) => {
      await removeSignIn(host, accountId, 'local');
      await new Sessions(database).create(accountId, undefined, undefined, identity);
    };
    expect(await completeSignIn(host, { ...profile, avatarUrl: undefined }, begin, '/')).toEqual({
      refused: 'expired',
    });
  });

  it.each([
    ['through a proxy that is not trusted', { 'x-forwarded-for': '203.0.113.7' }],
    ['by a name that resolves to this machine', { host: 'rebinding.example' }],
  ])('is refused %s', async (_how, headers) => {
    expect((await client(headers).get('/sign-in')).text).toContain(
      'Local sign-in works on the gateway&#39;s machine only.',
    );
    const form = { ...(await fields()), email: 'far@example.com' };
    const browser = client(headers);
    browser.cookies.set('dp_session', form.cookie);
    expect((await browser.post('/sign-in', form)).status).toBe(403);
  });

  it('is refused from another site', async () => {
    const { cookie, ...form } = await fields();
    const browser = client({ 'sec-fetch-site': 'cross-site' });
    browser.cookies.set('dp_session', cookie);
    expect((await browser.post('/sign-in', { ...form, email: 'cross@example.com' })).status).toBe(403);
  });
});

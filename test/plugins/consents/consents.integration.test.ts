import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { listDeclaredConsents } from '../../../plugins/consents/section.ts';
import { recordConsent, readAllConsents, withdrawConsents } from '../../../plugins/consents/store.ts';
import { auditPage } from '../../support/audit-page.ts';
import { launchBrowser } from '../../support/browser.ts';
import { runCommand } from '../../support/command-line.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { createOperatorToken } from '../../support/operator-token.ts';
import { hiddenFields, PageClient } from '../../support/page-client.ts';

const path = '/account/consents';
const words = { en: 'Send me news & offers <by e-mail>.', id: 'Kirimi saya kabar lewat email.' };
const reminders = { en: 'Remind me by WhatsApp.', id: 'Ingatkan saya lewat WhatsApp.' };
const rest = `${yamlFor('http://127.0.0.1:9')}operators: [ops@example.com]
operator_api: { enabled: true }
payments: { max_open_orders: 1000 }
`;
const declare = (consents: object) => `${rest}consents: ${JSON.stringify(consents)}\n`;
const both = declare({ news: { label: words }, reminders: { label: reminders } });

let shop: TestGateway;
let buyer: PageClient;
let buyerId: string;
let email: string;
let buyers = 0;

beforeAll(async () => {
  shop = await startGateway({ yaml: both });
});
afterAll(() => shop?.[Symbol.asyncDispose]());
beforeEach(async () => {
  email = `buyer-${++buyers}@example.com`;
  [buyer, buyerId] = await join(email);
});

async function join(address: string, headers = {}): Promise<[PageClient, string]> {
  const client = new PageClient(shop.url, headers);
  await client.submit('/sign-in', '/sign-in', { name: 'Rani', email: address });
  const [row] = await shop.database.query<{ id: string }>('select id from account where email = ?', [address]);
  return [client, row?.id ?? ''];
}

async function configure(yaml: string): Promise<void> {
  await shop.write(yaml);
  await shop.gateway.reload();
}

const boxesOf = (html: string) => html.match(/<input type="checkbox" name="consent_\d" value="1"[^>]*>/g) ?? [];
const fieldsOf = async (client = buyer) => hiddenFields((await client.get('/buy')).text, '/buy');
const given = (id = buyerId) => readAllConsents(shop.database, id, 100);
const press = (act: 'give' | 'withdraw', fields: Record<string, string>) =>
  buyer.submit(path, `${path}/${act}`, fields);
const consentOf = (name: string) => {
  const consent = listDeclaredConsents(shop.gateway.host).find((one) => one.name === name);
  if (consent === undefined) throw new Error(`no consent ${name}`);
  return consent;
};
const daypass = (...options: readonly string[]) =>
  runCommand(['--config', shop.file, 'consent', 'list', ...options], { DATABASE_URL: shop.database.url });
const reachable = async (name = 'news'): Promise<string[]> =>
  JSON.parse((await daypass('--name', name, '--json', '--limit', '1000')).out).consents.map(
    (one: { email: string }) => one.email,
  );

it('a box that is not ticked asks for each consent, and a purchase without a tick records nothing', async () => {
  const { text } = await buyer.get('/buy');
  expect(boxesOf(text)).toHaveLength(2);
  expect(boxesOf(text).join('')).not.toContain('checked');
  expect(text).toContain('Send me news &amp; offers &lt;by e-mail&gt;.');
  expect((await buyer.post('/buy', { ...(await fieldsOf()), days: '7' })).status).toBe(303);
  expect(await given()).toEqual([]);
  expect(boxesOf((await buyer.get('/buy')).text)).toHaveLength(2);
});

it('a tick records the words that were shown, in both languages, with when and where, and asks no more', async () => {
  const [indonesian, id] = await join(`id-${email}`, { 'accept-language': 'id' });
  const before = await fieldsOf(indonesian);
  const reply = await indonesian.post('/buy', { ...before, days: '7', consent_2: '1' });
  expect(reply.status).toBe(303);
  expect(await given(id)).toEqual([
    {
      id: expect.any(String),
      name: 'reminders',
      label: reminders,
      digest: consentOf('reminders').digest,
      language: 'id',
      place: 'checkout',
      givenAt: expect.any(Date),
      withdrawnAt: undefined,
    },
  ]);
  const { text } = await indonesian.get('/buy');
  expect([boxesOf(text).length, text.includes(words.id)]).toEqual([1, true]);
  // Another tab with the old form, and the same order again.
  expect((await indonesian.post('/buy', { ...before, days: '7', consent_2: '1' })).status).toBe(303);
  expect(await given(id)).toHaveLength(1);
});

it.each([
  [{ consents: 'nonsense' }],
  [{ consents_in: 'xx' }],
  [{ consents_in: '' }],
  [{ consent_1: '0' }],
  [{ consents: '' }],
])('a form with %j consents to nothing, and the order is placed', async (fields) => {
  const reply = await buyer.post('/buy', { ...(await fieldsOf()), days: '7', consent_1: '1', ...fields });
  expect([reply.status, await given()]).toEqual([303, []]);
});

it('an order that is not placed records no consent, and a form that comes back keeps the ticks of the same words', async () => {
  const sent = { ...(await fieldsOf()), days: '999', consent_1: '1' };
  const refused = await buyer.post('/buy', sent);
  expect(refused.status).toBe(422);
  expect(boxesOf(refused.text).map((box) => box.includes('checked'))).toEqual([true, false]);
  await configure(declare({ reminders: { label: reminders }, news: { label: words } }));
  expect(boxesOf((await buyer.post('/buy', sent)).text)).toEqual([]);
  await configure(both);
  expect(await given()).toEqual([]);
});

it('a consent is given and withdrawn on a page of the account, with one button each', async () => {
  expect((await buyer.get('/account')).text).toContain(`href="${path}"`);
  expect((await press('give', { digest: consentOf('news').digest })).location).toBe(`${path}?done=given`);
  expect(await given()).toMatchObject([{ name: 'news', label: words, language: 'en', place: 'account' }]);
  expect((await buyer.get(path)).text).toMatch(/Given on .+Withdraw/s);
  expect(await reachable()).toContain(email);
  expect((await press('withdraw', { name: 'news' })).location).toBe(`${path}?done=withdrawn`);
  expect(await given()).toMatchObject([{ name: 'news', withdrawnAt: expect.any(Date) }]);
  expect(await reachable()).not.toContain(email);
  expect(boxesOf((await buyer.get('/buy')).text)).toHaveLength(2);
  const refused = await press('give', { digest: 'a'.repeat(43) });
  expect([refused.status, refused.text.includes('The words have changed')]).toEqual([422, true]);
});

it('a changed label carries no consent to its new words, and the old one can be withdrawn and comes back with them', async () => {
  const { digest } = consentOf('news');
  await press('give', { digest });
  const form = await fieldsOf();
  await configure(declare({ news: { label: { ...words, id: 'Kirimi saya apa saja.' } } }));
  expect(await reachable()).not.toContain(email);
  const { text } = await buyer.get(path);
  expect(text).toMatch(/Not given.+wording that is no longer used/s);
  expect(boxesOf((await buyer.get('/buy')).text)).toHaveLength(1);
  // The form was opened before the edit.
  const [other, otherId] = await join(`other-${email}`);
  await configure(both);
  const old = await fieldsOf(other);
  await configure(declare({ news: { label: { ...words, en: 'Anything.' } } }));
  expect((await other.post('/buy', { ...old, days: '7', consent_1: '1' })).status).toBe(303);
  expect([await given(otherId), form['consents']?.includes(digest)]).toEqual([[], false]);
  await configure(rest);
  expect((await buyer.get('/account')).text).not.toContain(`href="${path}"`);
  expect(boxesOf((await buyer.get('/buy')).text)).toEqual([]);
  expect((await buyer.get(path)).text).toContain('Withdraw');
  await configure(both);
  expect(await reachable()).toContain(email);
  await configure(rest);
  await press('withdraw', { name: 'news' });
  expect((await buyer.get(path)).text).toContain('There is nothing to consent to now.');
  await configure(both);
  expect(await reachable()).not.toContain(email);
});

it('operators list those who can be written to, by command and API, page by page', async () => {
  const { database } = shop;
  const news = consentOf('news');
  const shown = { language: 'en', place: 'account' } as const;
  const others = ['blocked', 'unsubscribed', 'without'].map((name) => `${name}-${email}`);
  for (const address of [email, `second-${email}`, ...others])
    await recordConsent(database, (await join(address))[1], news, shown);
  const [, blockedId] = await join(others[0] ?? '');
  await blockAccount(database, blockedId, 'spam');
  await database.query('update account set unsubscribed_at = clock_timestamp() where email = ?', [others[1]]);
  await database.query('update account set email = null where email = ?', [others[2]]);
  expect((await reachable()).slice(0, 2)).toEqual([`second-${email}`, email]);
  expect((await reachable()).filter((one) => others.includes(one))).toEqual([]);
  const headers = { authorization: `Bearer ${await createOperatorToken(shop, 'read')}` };
  const read = async (query: string) => {
    const reply = await fetch(`${shop.url}/operator/api/consents?${query}`, { headers });
    return [reply.status, await reply.text()] as const;
  };
  const [, body] = await read('name=news');
  expect(JSON.parse(body)).toMatchObject({
    consents: [{ email: `second-${email}` }, { email, name: 'news', place: 'account', account_id: buyerId }],
    next: null,
  });
  const [, after] = await read(`name=news&after=${JSON.parse(body).consents[0].id}`);
  expect(JSON.parse(after).consents[0].email).toBe(email);
  expect((await daypass('--name', 'news', '--limit', '1')).out).toContain(`second-${email}`);
  expect((await read('name=nws'))[1]).toContain('use one of: news, reminders');
  expect((await daypass('--name', 'nws')).code).not.toBe(0);
});

it('a consent is in the download and on the account for operators, and goes with the account', async () => {
  await press('give', { digest: consentOf('news').digest });
  await press('withdraw', { name: 'news' });
  let download = '';
  for await (const line of exportForOwner(shop.database, buyerId)) download += line;
  expect(JSON.parse(download).consent).toMatchObject([{ name: 'news', label: words, place: 'account' }]);
  const [ops] = await join('ops@example.com');
  const { text } = await ops.get(`/operator/accounts/${buyerId}?story=access`);
  expect(text).toMatch(/Withdrew consent: news.+Consented on the account page: news/s);
  await deleteAccount(shop.database, buyerId);
  await recordConsent(shop.database, buyerId, consentOf('news'), { language: 'en', place: 'account' });
  expect(await given()).toEqual([]);
});

it('an account that gives and withdraws without end keeps the last 20 withdrawn consents', async () => {
  for (let count = 0; count < 23; count++) {
    await recordConsent(shop.database, buyerId, consentOf('news'), { language: 'en', place: 'account' });
    await withdrawConsents(shop.database, buyerId, 'news');
  }
  await recordConsent(shop.database, buyerId, consentOf('news'), { language: 'en', place: 'account' });
  const all = await given();
  expect([all.length, all.filter(({ withdrawnAt }) => withdrawnAt === undefined).length]).toEqual([21, 1]);
});

it.each([
  ['without words', { news: {} }, 'consents.news.label: is missing'],
  ['in one language', { news: { label: { en: 'News' } } }, 'consents.news.label.id: is missing'],
  ['in 201 characters', { news: { label: { en: 'x'.repeat(201), id: 'x' } } }, 'must have at most 200'],
  ['on two lines', { news: { label: { en: 'one\ntwo', id: 'x' } } }, 'English text, on one line'],
  ['under a name in capitals', { NEWS: { label: words } }, 'consents.NEWS: is not a valid name'],
  [
    'that are six',
    Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, { label: words }])),
    'must have at most 5',
  ],
])('daypass check refuses consents %s', async (_, consents, said) => {
  await shop.write(declare(consents));
  const { code, errors } = await runCommand(['--config', shop.file, 'check'], { DATABASE_URL: shop.database.url });
  await shop.write(both);
  expect([code, errors]).toEqual([78, expect.stringContaining(said)]);
});

it('Pay and the page are accessible on a phone in both languages, with words of 200 characters', async () => {
  const long = { en: `${'Send me news about the service. '.repeat(5)}${'x'.repeat(40)}`, id: 'k'.repeat(200) };
  await configure(declare({ news: { label: words }, long: { label: long }, reminders: { label: reminders } }));
  await press('give', { digest: consentOf('reminders').digest });
  await using browser = await launchBrowser();
  await using window = await browser.open();
  const cookies = [...buyer.cookies].map(([name, value]) => ({ name, value, url: shop.url }));
  await window.page.context().addCookies(cookies);
  const options = { widths: [320, 390], axeWidths: [390] };
  const wrong = [];
  for (const page of ['/buy', path]) wrong.push(...(await auditPage(window, shop.url + page, options)));
  await configure(both);
  expect(wrong).toEqual([]);
});

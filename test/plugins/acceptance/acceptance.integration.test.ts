import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { renewCharge } from '#core/business/payments/checkout.ts';
import { receiptMail } from '#core/business/payments/order-mail-writers.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { retention } from '../../../plugins/acceptance/jobs.ts';
import { auditPage } from '../../support/audit-page.ts';
import { launchBrowser } from '../../support/browser.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { hiddenFields, PageClient } from '../../support/page-client.ts';

const operator = 'ops@example.com';
const rest = `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]
payments: { gifts: true, max_open_orders: 1000 }
`;
const versionOne = {
  en: '---\nversion: "1"\n---\n# Terms of service\nOne.',
  id: '---\nversion: "1"\n---\n# Ketentuan\nSatu.',
};

let shop: TestGateway;
let ops: PageClient;
let buyer: PageClient;
let buyerId: string;
let buyers = 0;

beforeAll(async () => {
  shop = await startGateway({ yaml: rest });
  ops = await signIn(operator);
  await mkdir(join(shop.folder, 'pages'));
});
afterAll(() => shop?.[Symbol.asyncDispose]());
beforeEach(async () => {
  await publish(versionOne);
  const email = `buyer-${++buyers}@example.com`;
  buyer = await signIn(email);
  const [row] = await shop.database.query<{ id: string }>('select id from account where email = ?', [email]);
  buyerId = row?.id ?? '';
});

async function signIn(email: string, headers = {}): Promise<PageClient> {
  const client = new PageClient(shop.url, headers);
  await client.submit('/sign-in', '/sign-in', { name: 'Rani Putri', email });
  return client;
}

/** @param texts by language, of the terms */
async function publish(texts: Readonly<Record<string, string>>, name = 'terms'): Promise<void> {
  for (const [language, text] of Object.entries(texts))
    await writeFile(join(shop.folder, 'pages', `${name}.${language}.md`), text);
  await shop.gateway.reload();
}

const pageOf = async (client = buyer, path = '/buy') => (await client.get(path)).text;
const fieldsOf = (html: string) => hiddenFields(html, '/buy');
const codeOf = (location: string) => location.split('/')[2] ?? '';

async function buy(fields: Record<string, string> = {}, path = '/buy'): Promise<string> {
  const reply = await buyer.post('/buy', { ...fieldsOf(await pageOf(buyer, path)), days: '7', ...fields });
  expect(reply.status).toBe(303);
  return codeOf(reply.location);
}

async function pay(code: string): Promise<void> {
  const order = await readOrder(shop.database, { code });
  await settle(shop.gateway.host, 'sandbox', {
    reference: order?.attempt?.reference ?? '',
    providerReference: order?.attempt?.providerReference,
    paymentId: `pay-${code}`,
    state: 'paid',
    paid: { amount: order?.price ?? 0, currency: 'IDR' },
    raw: {},
  });
}

const acceptancesOf = (code: string) =>
  shop.database.query<{ page: string; version: string | null; language: string; digest: string }>(
    'select page, version, language, digest from acceptance where code = ? order by page, accepted_at',
    [code],
  );
const readOrders = () => shop.database.query('select 1 from plan_order where account_id = ?', [buyerId]);
const shownVersion = (html: string) => /href="(\/accepted\/[\w-]{43})"/.exec(html)?.[1] ?? '';
/** As if the page that showed it had been opened long ago. */
const ageTexts = () => shop.database.query(`update acceptance_text set shown_at = shown_at - interval '2 hours'`);

async function factsOfMail(code: string) {
  const { host } = shop.gateway;
  const order = await readOrder(shop.database, { code });
  const draft = await receiptMail.write({
    host,
    payload: { orderId: order?.id ?? '', accountId: buyerId },
    language: 'id',
    t: (key: string) => key,
    format: getFormatter('id', 'UTC'),
    pages: { connect: '' },
  } as never);
  return typeof draft === 'string' ? [] : draft.facts;
}

describe('paying', () => {
  it('accepts the version that was shown, in the language in which it was', async () => {
    const html = await pageOf();
    expect(html.replaceAll(/<a [^>]+>|<\/a>/g, '')).toContain('By paying you accept the terms.');
    expect(html).not.toContain('type="checkbox"');
    const code = await buy();
    const [accepted] = await acceptancesOf(code);
    expect(accepted).toMatchObject({ page: 'terms', version: '1', language: 'en' });
    expect(`/accepted/${accepted?.digest}`).toBe(shownVersion(html));
    const indonesian = await signIn(`indonesian-${buyers}@example.com`, { 'accept-language': 'id' });
    const reply = await indonesian.submit('/buy', '/buy', { days: '7' });
    expect(await acceptancesOf(codeOf(reply.location))).toMatchObject([{ digest: accepted?.digest, language: 'id' }]);
  });

  it('accepts what was shown when the terms change between page and Pay, and the next purchase the new ones', async () => {
    const before = await pageOf();
    await publish({ en: '---\nversion: "2"\n---\n# Terms of service\nTwo.' });
    // Noted nine minutes before this page was opened, which was an hour ago.
    await shop.database.query(`update acceptance_text set shown_at = shown_at - interval '69 minutes'`);
    const reply = await buyer.post('/buy', { ...fieldsOf(before), days: '7' });
    const code = codeOf(reply.location);
    await pay(code);
    expect(await acceptancesOf(code)).toMatchObject([{ version: '1' }]);
    const old = await new PageClient(shop.url).get(shownVersion(before));
    expect([old.status, old.text.includes('One.')]).toEqual([200, true]);
    expect(old.text).toContain('no longer the current one');
    const next = await pageOf();
    expect(next).toContain('They have changed since your last purchase.');
    expect(await acceptancesOf(await buy())).toMatchObject([{ version: '2' }]);
  });

  it('refuses terms that were replaced more than an hour ago, and shows the new ones', async () => {
    const before = await pageOf();
    await ageTexts();
    await publish({ en: '---\nversion: "2"\n---\n# Terms of service\nTwo.' });
    const reply = await buyer.post('/buy', { ...fieldsOf(before), days: '7' });
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('The terms have changed since you opened this page.');
    expect(shownVersion(reply.text)).not.toBe(shownVersion(before));
    const again = await buyer.post('/buy', { ...fieldsOf(reply.text), days: '7' });
    expect(await acceptancesOf(codeOf(again.location))).toMatchObject([{ version: '2' }]);
  });

  it('asks nothing again for an edit that keeps its version', async () => {
    const before = await pageOf();
    await ageTexts();
    await publish({ en: '---\nversion: "1"\n---\n# Terms of service\nOne, without a typo.' });
    const reply = await buyer.post('/buy', { ...fieldsOf(before), days: '7' });
    expect(await acceptancesOf(codeOf(reply.location))).toMatchObject([{ digest: shownVersion(before).slice(10) }]);
    expect(await pageOf()).not.toContain('They have changed');
    expect((await buyer.get(shownVersion(before))).text).toContain('has been in force since');
  });

  it.each(['', 'nonsense', `${'a'.repeat(43)}.en`, 'a.b.c '.repeat(33)])(
    'refuses a form that names no text that was shown: %j',
    async (accepted) => {
      const reply = await buyer.post('/buy', { ...fieldsOf(await pageOf()), days: '7', accepted });
      expect([reply.status, reply.text.includes('The terms have changed')]).toEqual([422, true]);
      expect(shownVersion(reply.text)).not.toBe('');
      expect((await readOrders()).length).toBe(0);
    },
  );

  it('stores a text anew that another process has not stored', async () => {
    const html = await pageOf();
    await shop.database.query('delete from acceptance_text');
    const refused = await buyer.post('/buy', { ...fieldsOf(html), days: '7' });
    expect(refused.status).toBe(422);
    expect((await buyer.post('/buy', { ...fieldsOf(refused.text), days: '7' })).status).toBe(303);
  });

  it('accepts once where two tabs get one order, a gift for its giver, and nothing anew with a new charge', async () => {
    const code = await buy();
    expect(await buy()).toBe(code);
    expect(await acceptancesOf(code)).toHaveLength(1);
    await shop.database.query(`update plan_order set state = 'expired' where code = ?`, [code]);
    await publish({ en: '---\nversion: "2"\n---\n# Terms of service\nTwo.' });
    await renewCharge(shop.gateway.host, (await readOrder(shop.database, { code }))?.id ?? '');
    expect(await acceptancesOf(code)).toMatchObject([{ version: '1' }]);
    const gift = await buy({}, '/buy?gift=1&days=7');
    expect((await readOrder(shop.database, { code: gift }))?.isGift).toBe(true);
    expect(await acceptancesOf(gift)).toHaveLength(1);
  });

  it('accepts the refund policy too, where there is one', async () => {
    await publish({ en: '# Refunds\nSeven days.' }, 'refunds');
    const html = await pageOf();
    expect(html.replaceAll(/<a [^>]+>|<\/a>/g, '')).toContain('By paying you accept the terms and the refund policy.');
    expect(await acceptancesOf(await buy())).toMatchObject([{ page: 'refunds', version: null }, { page: 'terms' }]);
  });

  it('accepts an address and its day, where the terms are elsewhere', async () => {
    const elsewhere = `service: { terms: "https://example.com/our-terms" }\n`;
    await shop.write(rest + elsewhere);
    await shop.gateway.reload();
    expect(await pageOf()).toContain('<a href="https://example.com/our-terms" target="_blank">terms</a>');
    const code = await buy();
    const accepted = (await acceptancesOf(code)).find(({ page }) => page === 'terms');
    const [text] = await shop.database.query('select address, texts from acceptance_text where digest = ?', [
      accepted?.digest,
    ]);
    expect(text).toEqual({ address: 'https://example.com/our-terms', texts: null });
    expect((await buyer.get(`/accepted/${accepted?.digest}`)).status).toBe(404);
    expect((await ops.get(`/operator/orders/${code}`)).text).toContain('href="https://example.com/our-terms"');
    await shop.write(rest);
    await shop.gateway.reload();
  });
});

describe('an acceptance', () => {
  it('is on the receipt, in the mail, in the download and on pages of operators, and outlives its account', async () => {
    const code = await buy();
    const { digest = '' } = (await acceptancesOf(code)).find(({ page }) => page === 'terms') ?? {};
    await pay(code);
    expect((await buyer.get(`/orders/${code}/receipt`)).text).toContain(`<a href="/accepted/${digest}">Version 1</a>`);
    expect(await factsOfMail(code)).toContainEqual([
      'Ketentuan yang disetujui',
      `Versi 1 · ${shop.gateway.host.service.baseUrl}/accepted/${digest}`,
    ]);
    let download = '';
    for await (const line of exportForOwner(shop.database, buyerId)) download += line;
    expect(JSON.parse(download).acceptance).toContainEqual(
      expect.objectContaining({ code, page: 'terms', version: '1', language: 'en', digest }),
    );
    const seen = async (path: string) => (await ops.get(path)).text.includes(`/accepted/${digest}`);
    expect([await seen(`/operator/orders/${code}`), await seen(`/operator/accounts/${buyerId}`)]).toEqual([true, true]);
    await deleteAccount(shop.database, buyerId);
    expect(await acceptancesOf(code)).not.toHaveLength(0);
    expect(await seen(`/operator/accounts/${buyerId}`)).toBe(true);
  });

  it('never changes', async () => {
    const code = await buy();
    await expect(shop.database.query(`update acceptance set version = '9' where code = ?`, [code])).rejects.toThrow(
      'acceptances never change',
    );
    await expect(shop.database.query(`update acceptance_text set texts = '{}' where address is null`)).rejects.toThrow(
      'acceptances never change',
    );
  });

  it('goes with the receipts of its order, and after 90 days where nothing can be paid', async () => {
    const [paid, unpaid, old] = [await buy(), await buy({ days: '1' }), await buy({ days: '30' })];
    await pay(paid);
    await pay(old);
    const { database } = shop;
    const setState = (state: string) =>
      database.query('update plan_order set state = ? where code = ?', [state, unpaid]);
    await setState('expired');
    await database.query('alter table acceptance disable trigger acceptance_kept');
    await database.query(`update acceptance set accepted_at = accepted_at - interval '91 days' where code in (?)`, [
      [paid, unpaid],
    ]);
    await database.query(`update acceptance set accepted_at = accepted_at - interval '12 years' where code = ?`, [old]);
    await database.query('alter table acceptance enable trigger acceptance_kept');
    await database.query(
      `update payment set paid_at = paid_at - interval '12 years' where order_id in (select id from plan_order where code = ?)`,
      [old],
    );
    const left = () => Promise.all([paid, unpaid, old].map(async (code) => (await acceptancesOf(code)).length > 0));
    await retention.run({}, shop.gateway.host);
    // It can be charged again, and is then bought under these terms.
    expect(await left()).toEqual([true, true, false]);
    await setState('cancelled');
    await retention.run({}, shop.gateway.host);
    expect(await left()).toEqual([true, false, false]);
  });
});

it('an unknown version is not found', async () => {
  const statuses = await Promise.all(
    ['x', 'a'.repeat(43)].map(async (digest) => (await buyer.get(`/accepted/${digest}`)).status),
  );
  expect(statuses).toEqual([404, 404]);
});

it('Pay and the page of a version are accessible on a phone in both languages', async () => {
  await publish({ en: '# Refunds\nSeven days.', id: '# Refund\nTujuh hari.' }, 'refunds');
  const version = shownVersion(await pageOf());
  await using browser = await launchBrowser();
  await using window = await browser.open();
  const cookies = [...buyer.cookies].map(([name, value]) => ({ name, value, url: shop.url }));
  await window.page.context().addCookies(cookies);
  const options = { widths: [320, 390], axeWidths: [390] };
  const wrong = [];
  for (const path of ['/buy', version]) wrong.push(...(await auditPage(window, shop.url + path, options)));
  expect(wrong).toEqual([]);
});

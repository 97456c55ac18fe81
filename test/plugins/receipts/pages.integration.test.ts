import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { loadReceiptSteps } from '#core/business/payments/receipts.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import { createSignedUrl } from '../../../plugins/receipts/link.ts';
import { numberReceipts } from '../../../plugins/receipts/numbers.ts';
import { launchBrowser } from '../../support/browser.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

const operator = 'ops@example.com';
const longName = 'PT Sejahtera Abadi Makmur Sentosa Nusantara Raya Jaya Utamaa'; // 60 characters
const yaml = `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]
seller:
  name: ${longName}
  address: "Jl. Merdeka 1\\nJakarta 10110"
  npwp: "0012345678901000"
  registrations: [NIB 1234567890123]
  tax: { name: PPN, rate: 12, base: 11/12 }
`;

let gateway: TestGateway;
let ops: PageClient;
let buyer: PageClient;
let buyerId: string;
beforeAll(async () => {
  gateway = await startGateway({ yaml });
  ops = await signIn(operator);
  buyer = await signIn('buyer@example.com');
  const [row] = await gateway.database.query<{ id: string }>(
    `select id from account where email = 'buyer@example.com'`,
  );
  buyerId = row?.id ?? '';
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

async function signIn(email: string): Promise<PageClient> {
  const client = new PageClient(gateway.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Rani Putri', email });
  return client;
}

/** A paid order, whose receipt is a real one: as of a provider that moves money. */
async function buy(accountId = buyerId): Promise<Order> {
  const { host } = gateway.gateway;
  const order = await startOrder(host, accountId, 7);
  await settle(host, 'sandbox', evidenceOf(order));
  return (await readOrder(gateway.database, { id: order.id })) as Order;
}

function evidenceOf({ attempt, code, price }: Order) {
  return {
    reference: attempt?.reference ?? '',
    providerReference: attempt?.providerReference,
    paymentId: `pay-${code}`,
    state: 'paid',
    paid: { amount: price, currency: 'IDR' },
    raw: {},
  } as const;
}

async function makeReal(order: Order): Promise<void> {
  const { database } = gateway;
  await database.query('alter table receipt disable trigger receipt_kept');
  await database.query('update receipt set is_test = false where order_id = ?', [order.id]);
  await database.query('alter table receipt enable trigger receipt_kept');
}

async function receiptOf(order: Order) {
  const [first] = (await (await loadReceiptSteps(gateway.database))?.listReceipts(gateway.database, order.id)) ?? [];
  if (first === undefined) throw new Error('no receipt');
  return first;
}

const textOf = (html: string) => html.replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('the receipt of a buyer', () => {
  it('says what was stored, and that a test payment has no number', async () => {
    const order = await buy();
    const reply = await buyer.get(`/orders/${order.code}/receipt`);
    expect(reply.location).toBe((await receiptOf(order)).path);
    const { text } = await buyer.follow(reply);
    expect(textOf(text)).toContain(longName);
    expect(textOf(text)).toContain('Jakarta 10110');
    expect(textOf(text)).toContain('PPN 12% × 11/12');
    expect(textOf(text)).toMatch(/Tax base \(11\/12 of it\) Rp\s78\.454/);
    expect(textOf(text)).toContain('This is not a receipt.');
  });

  it('waits for its number, and has it once the job has run', async () => {
    const order = await buy();
    const { path } = await receiptOf(order);
    // The gateway's own job gives no number meanwhile.
    await gateway.database.fork().transactional(async (transaction) => {
      await transaction.execute('select 1 from receipt_series for update');
      await makeReal(order);
      expect(textOf((await buyer.get(path)).text)).toContain('The receipt number is being assigned.');
    });
    await numberReceipts(gateway.database);
    const { number = '' } = await receiptOf(order);
    expect(number).toMatch(/^\d{6}$/);
    expect(textOf((await buyer.get(path)).text)).toContain(`Receipt number ${number}`);
  });

  it('is not that of a later payment where the first has none, and each leads to the others', async () => {
    const order = await buy();
    const { host } = gateway.gateway;
    await gateway.database.query('delete from receipt where order_id = ?', [order.id]); // paid before there was a seller
    for (const again of ['second', 'third'])
      await settle(host, 'sandbox', { ...evidenceOf(order), paymentId: `${again}-${order.code}` });
    const first = await buyer.get(`/orders/${order.code}/receipt`);
    expect([first.status, textOf(first.text)]).toEqual([200, expect.stringContaining(`pay-${order.code}`)]);
    const paths = [...first.text.matchAll(/href="(\/receipts\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(paths).toHaveLength(2);
    const [second = '', third = ''] = paths;
    const { text } = await buyer.get(second);
    expect(textOf(text)).toContain('This payment activated no pass.');
    expect(text).toContain(`href="${third}"`);
  });

  it('is shown to its buyer and to operators only', async () => {
    const { path, operatorPath } = await receiptOf(await buy());
    expect((await (await signIn('other@example.com')).get(path)).status).toBe(404);
    expect((await buyer.get('/receipts/none')).status).toBe(404);
    expect((await buyer.get(operatorPath)).status).toBe(403);
    expect(textOf((await ops.get(operatorPath)).text)).toContain('Rani Putri');
    expect(textOf((await ops.get('/operator/receipts')).text)).toContain('Rani Putri');
  });

  it('takes a company once, and keeps its first version', async () => {
    const { path } = await receiptOf(await buy());
    const add = (fields: Record<string, string>) => buyer.submit(path, `${path}/company`, fields);
    expect((await add({ company: longName, npwp: '12' })).status).toBe(422);
    expect((await add({ company: '', npwp: '0012345678901000' })).status).toBe(422);
    const long = await add({ company: `${longName}${longName}!` });
    expect([long.status, textOf(long.text)]).toEqual([422, expect.stringContaining('Use at most 120 characters')]);
    expect((await buyer.get(path)).text).toMatch(/name="company" required maxlength="120"/);
    expect((await add({ company: 'PT Pembeli Jaya', npwp: '01.234.567.8-901.000' })).location).toBe(path);
    expect(textOf((await buyer.get(path)).text)).toContain('PT Pembeli Jaya');
    expect(textOf((await buyer.get(path)).text)).toContain('0012345678901000');
    expect(textOf((await buyer.get(`${path}?issued=1`)).text)).not.toContain('PT Pembeli Jaya');
    expect((await buyer.get(path)).text).not.toContain(`${path}/company`);
  });
});

/** Over HTTP. @returns the code of the order */
async function placeOrder(fields: Record<string, string>): Promise<string> {
  const reply = await buyer.submit('/buy', '/buy', { days: '30', ...fields });
  expect(reply.status).toBe(303);
  return reply.location.split('/')[2] ?? '';
}

async function payFor(code: string) {
  const placed = (await readOrder(gateway.database, { code })) as Order;
  await settle(gateway.gateway.host, 'sandbox', {
    reference: placed.attempt?.reference ?? '',
    providerReference: placed.attempt?.providerReference,
    paymentId: `pay-${code}`,
    state: 'paid',
    paid: { amount: placed.price, currency: 'IDR' },
    raw: {},
  });
  return receiptOf(placed);
}

describe('a company that is named at checkout', () => {
  it('is on the receipt from the start, as the last try has it, and takes no other one', async () => {
    const { text: form } = await buyer.get('/buy');
    expect(form).toContain('<summary>Receipt for a company (optional)</summary>');
    expect(form).toMatch(/name="company" maxlength="120"/);
    const code = await placeOrder({ company: 'PT Salah', npwp: '0012345678901000' });
    expect(await placeOrder({ company: `${longName} & Co`, npwp: '01.234.567.8-901.000' })).toBe(code);
    const named = `Company ${longName} &amp; Co · 0012345678901000`;
    expect(textOf((await ops.get(`/operator/orders/${code}`)).text)).toContain(named);
    const { path } = await payFor(code);
    const { text } = await buyer.get(path);
    expect(textOf(text)).toContain(`${longName} &amp; Co`);
    expect(textOf((await ops.get(`/operator/orders/${code}`)).text)).toContain(named);
    expect(textOf(text)).toContain('0012345678901000');
    expect(text).not.toContain('PT Salah');
    expect(text).not.toContain(`${path}/company`);
    expect((await buyer.get(`${path}?issued=1`)).text).toContain(longName);
  });

  it('is left out again by a try without it', async () => {
    const code = await placeOrder({ company: 'PT Salah' });
    expect(await placeOrder({ company: ' ' })).toBe(code);
    expect((await buyer.get((await payFor(code)).path)).text).not.toContain('PT Salah');
  });

  it.each([
    { fields: { company: 'PT Pembeli', npwp: '12' }, field: 'npwp' },
    { fields: { company: '', npwp: '0012345678901000' }, field: 'company' },
    { fields: { company: `${longName}${longName}!` }, field: 'company' },
  ])('is refused with a wrong $field, which the open form shows', async ({ fields, field }) => {
    const reply = await buyer.submit('/buy', '/buy', { days: '30', ...fields });
    expect(reply.status).toBe(422);
    expect(reply.text).toMatch(/<details class="card stack fold" open>/);
    expect(reply.text).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`));
    // The form is below the plans: a phone shows the top of the page.
    const [, above = ''] =
      /<div class="flash bad" role="alert">([^]*?)<form method="post" action="\/buy"/.exec(reply.text) ?? [];
    expect(above).toMatch(/An NPWP has|Enter the name of the company|Use at most 120 characters/);
  });
});

describe('the signed address of a receipt', () => {
  it('opens it without signing in, with a masked NPWP, and may be neither stored nor indexed', async () => {
    const order = await buy();
    const { path } = await receiptOf(order);
    await buyer.submit(path, `${path}/company`, { company: 'PT Pembeli', npwp: '9912345678905555' });
    const url = new URL(await createSignedUrl(gateway.gateway.host, path.split('/').at(-1) ?? ''));
    const reply = await new PageClient(gateway.url).get(url.pathname);
    expect(reply.status).toBe(200);
    expect(textOf(reply.text)).toContain('••••••••••••5555');
    expect(reply.text).not.toContain('9912345678905555');
    expect(reply.text).not.toContain('buyer@example.com');
    expect(reply.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
    });
    for (const wrong of [`${url.pathname}x`, url.pathname.replace(/\.\d+\./, '.9999999999.'), '/receipt/a.b.c'])
      expect((await new PageClient(gateway.url).get(wrong)).status).toBe(404);
  });

  it('ends after 30 days and with the account, whose receipt operators still open', async () => {
    const leaving = await signIn('leaving@example.com');
    const [row] = await gateway.database.query<{ id: string }>(
      `select id from account where email = 'leaving@example.com'`,
    );
    expect(textOf((await leaving.get('/account/delete')).text)).toContain('for 10 years');
    const { path, operatorPath } = await receiptOf(await buy(row?.id));
    const id = path.split('/').at(-1) ?? '';
    const { host } = gateway.gateway;
    const old = new URL(await createSignedUrl({ ...host, now: () => host.now() - 31 * 86_400_000 }, id)).pathname;
    const open = new URL(await createSignedUrl(host, id)).pathname;
    const visitor = new PageClient(gateway.url);
    expect([(await visitor.get(old)).status, (await visitor.get(open)).status]).toEqual([404, 200]);
    await deleteAccount(gateway.database, row?.id ?? '');
    expect((await visitor.get(open)).status).toBe(404);
    expect(textOf((await ops.get(operatorPath)).text)).toContain('Rani Putri');
  });
});

it('a receipt prints on one sheet, with a name of 60 characters and two refunds', async () => {
  const { host } = gateway.gateway;
  const order = await buy();
  await makeReal(order);
  for (const amount of [30_000, 20_000])
    await refundOrder(host, order.id, { reason: 'sorry', isManual: true, amount, days: 'none' });
  await numberReceipts(gateway.database);
  const { path } = await receiptOf(order);
  await buyer.submit(path, `${path}/company`, { company: longName, npwp: '0012345678901000' });
  await using browser = await launchBrowser();
  await using window = await browser.open();
  await window.page
    .context()
    .addCookies([...buyer.cookies].map(([name, value]) => ({ name, value, url: gateway.url })));
  await window.page.goto(`${gateway.url}${path}`);
  const pdf = await window.page.pdf({ preferCSSPageSize: true });
  expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
  expect(window.complaints).toEqual([]);
});

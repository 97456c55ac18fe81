import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelOrder, startOrder } from '#core/business/payments/checkout.ts';
import { readOrder } from '#core/business/payments/order.ts';
import type { Database } from '#core/platform/database/database.ts';
import { reserveFreePlaces } from '../../../plugins/sales/jobs.ts';
import { readSales } from '../../../plugins/sales/sales-figures.ts';
import { findWait } from '../../../plugins/sales/waiting-list.ts';
import { createBuyer, createPaymentHost } from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { tablesHere } from '../../support/registered.ts';
import { FakeQris, serveShop } from '../payments/fixture.ts';

let database: Database;
let provider: FakeQris;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
  provider = new FakeQris();
});
afterAll(() => database[Symbol.asyncDispose]());

const textOf = (html: string) =>
  html
    .replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/[ \n]+/g, ' ');

const orderAt = (path: string) => readOrder(database, { code: path.split('/').at(-1) ?? '' });

describe('a plan that is sold out', () => {
  it('offers the waiting list in place of the payment, and shows the position and the reserved place', async () => {
    const limited = await serveShop(database, provider, { sales: { max_active: 1 } });
    await database.query(`update account set deleted_at = clock_timestamp()`);
    const host = createPaymentHost(database, [provider.provider], { sales: { max_active: 1 } });
    const order = await startOrder(host, await createBuyer(database), 7);
    const { browser: waiting, accountId: waitingId } = await limited.signIn();
    const page = (await waiting.get('/buy?days=7')).payload;
    expect(textOf(page)).toContain('Sold out');
    expect(page).not.toContain('Pay Rp');
    // Enter in the field of a company presses the first one of the form.
    const [first] = /<button[^>]*>/.exec(page.slice(page.indexOf('action="/buy" '))) ?? [];
    expect(first).not.toContain('name=');
    expect((await waiting.send('/buy', { days: '7' })).statusCode).toBe(422);
    expect((await waiting.send('/buy', { days: '8', wait: '1' })).statusCode).toBe(422);
    expect((await waiting.send('/buy', { days: '7', wait: '1' })).statusCode).toBe(303);
    const listed = textOf((await waiting.get('/buy')).payload);
    expect(listed).toContain('You are number 1 on the waiting list. Plan: 7 days.');
    expect(listed).toContain('We send no mail about it, so check back here.');
    await cancelOrder(host, order.id);
    await reserveFreePlaces(host);
    const reserved = (await waiting.get('/buy')).payload;
    expect(textOf(reserved)).toContain('A place is reserved for you until');
    const { headers } = await waiting.send('/buy', { days: '7' });
    const ordered = textOf((await waiting.get('/buy')).payload);
    expect([ordered.includes('You have an unpaid order.'), ordered.includes('A place is reserved')]).toEqual([
      true,
      false,
    ]);
    expect((await readSales(host)).waiting).toMatchObject([{ accountId: waitingId, isOrdered: true }]);
    await cancelOrder(host, (await orderAt(String(headers.location)))?.id ?? '');
    await waiting.send('/buy/leave', {}, {}, '/buy');
    expect(await findWait(host, waitingId)).toBeUndefined();
  });

  it('promises a mail where mail is set up', async () => {
    const limited = await serveShop(database, provider, {
      sales: { max_active: 1 },
      mail: { smtp: 'smtps://user:secret@mail.example:465', from: 'shop@mail.example' },
    });
    const { browser: waiting } = await limited.signIn();
    await waiting.send('/buy', { days: '7', wait: '1' });
    expect(textOf((await waiting.get('/buy')).payload)).toContain('we mail you if your account has an e-mail address');
  });
});

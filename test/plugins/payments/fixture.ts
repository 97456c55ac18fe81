import { createAccount } from '#core/business/accounts/accounts.ts';
import type { PaymentProvider } from '#core/business/payments/payment-provider.ts';
import { writeQris } from '#core/business/payments/qris.ts';
import { listen } from '#core/config/sections/core-sections.ts';
import { operatorsSection } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { defineForm, Redirect } from '#core/web/pages/page.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { registerPages } from '../../../plugins/payments/pages/index.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createPaymentHost, type PaymentSettings } from '../../core/business/payments/fixture.ts';
import { Browser, pageAt, pageHost, servePages } from '../../core/web/page-fixture.ts';
import { hostOf, modelOf } from '../format/catalog/catalog-fixture.ts';

/** A payload that decoders read as a payment of this amount. */
export function qrisOf(amount: number): string {
  return writeQris({
    isDynamic: true,
    amount,
    merchantName: 'DAYPASS DEMO',
    merchantCity: 'JAKARTA',
    categoryCode: '5734',
    accounts: [
      [
        '51',
        [
          ['00', 'ID.CO.QRIS.WWW'],
          ['02', 'ID0000000000000'],
          ['03', 'UMI'],
        ],
      ],
    ],
  });
}

/** A provider in memory with payable QR codes. */
export class FakeQris extends FakeProvider {
  override get provider(): PaymentProvider {
    const { connection } = this;
    const charge: typeof connection.charge = async (request, signal) => ({
      ...(await connection.charge(request, signal)),
      qr: qrisOf(request.amount),
    });
    return { ...super.provider, connect: () => ({ ...connection, charge }) };
  }
}

const ofPages = new Set<string>([listen.name, operatorsSection.name]);

const signInPage = pageAt('/sign-in', {
  title: 'test.title',
  forms: [
    defineForm({
      fields: { type: 'object', properties: { name: { type: 'string' } } },
      async submit({ name = '' }, request) {
        await request.signIn(name);
        return new Redirect('/buy');
      },
    }),
  ],
});

/** The buyers' pages on a real database, with this provider. */
export async function serveShop(database: Database, provider: FakeProvider, settings: PaymentSettings = {}) {
  const payment = createPaymentHost(database, [provider.provider], settings);
  const pages = pageHost();
  const host: Host = {
    ...payment,
    catalog: hostOf([modelOf('test')]).catalog,
    service: { ...pages.service, contact: 'mailto:help@example.com' },
    section: (section) => (ofPages.has(section.name) ? pages : payment).section(section),
  };
  const server = await servePages(host, ({ gateway }) => {
    gateway.texts(defineTexts({ en: { 'test.title': 'Sign in' }, id: { 'test.title': 'Masuk' } }));
    gateway.page(signInPage);
    registerPages({ gateway });
  });
  return { host, server, signIn: () => signInBuyer(new Browser(server), database) };
}

/** A browser in which a new account is signed in. */
async function signInBuyer(browser: Browser, database: Database) {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  await browser.send('/sign-in', { name: accountId });
  return { browser, accountId };
}

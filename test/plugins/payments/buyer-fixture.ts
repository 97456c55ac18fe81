import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { referenceOf } from '../../core/business/payments/fixture.ts';
import type { Browser } from '../../core/web/page-fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { tablesHere } from '../../support/registered.ts';
import { FakeQris, serveShop } from './fixture.ts';

type ServedShop = Awaited<ReturnType<typeof serveShop>>;

/** Somebody who buys in a browser. The database and the shop are those of the file; the account is new for each test. */
class Buyer {
  database!: Database;
  shop!: ServedShop;
  browser!: Browser;
  accountId!: string;
  readonly provider = new FakeQris();

  /** Continues as another account, at this shop. */
  async signIn(shop: ServedShop = this.shop): Promise<void> {
    ({ browser: this.browser, accountId: this.accountId } = await shop.signIn());
  }

  /** @returns the path of the order */
  async buy(days = 7): Promise<string> {
    const { headers, statusCode } = await this.browser.send('/buy', { days: String(days) });
    if (statusCode !== 303) throw new Error(`the order was answered with ${statusCode}`);
    return String(headers.location);
  }

  /** Pays at the provider, and settles as a check would. */
  async pay(path: string, amount?: number): Promise<void> {
    const order = await this.orderAt(path);
    this.provider.pay(referenceOf(order), amount === undefined ? undefined : { amount, currency: 'IDR' });
    await settle(this.shop.host, this.provider.name, this.provider.evidence(referenceOf(order)));
  }

  async orderAt(path: string): Promise<Order> {
    return (await readOrder(this.database, { code: codeOf(path) }))!;
  }

  async setState(path: string, state: string): Promise<void> {
    await this.database.query('update plan_order set state = ? where code = ?', [state, codeOf(path)]);
  }
}

/** Serves the pages of buyers to the tests of the file. */
export function useBuyer(): Buyer {
  const buyer = new Buyer();
  beforeAll(async () => {
    buyer.database = await createTestDatabase(silentLog, await tablesHere());
    await buyer.database.query('create table request_log_p partition of request_log default');
    buyer.shop = await serveShop(buyer.database, buyer.provider);
  });
  beforeEach(async () => {
    buyer.provider.charges.clear();
    buyer.provider.calls.length = 0;
    buyer.provider.failures.clear();
    await buyer.signIn();
  });
  afterAll(() => buyer.database?.[Symbol.asyncDispose]());
  return buyer;
}

/** The code of the order at a path. */
export function codeOf(path: string): string {
  return path.split('/')[2] ?? '';
}

/** What a reader sees of a page. */
export function textOf(html: string): string {
  return html
    .replace(/<\/?strong>/g, '')
    .replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/[ \n]+/g, ' ');
}

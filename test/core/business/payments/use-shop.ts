import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { FakeProvider } from './fake-provider.ts';
import { createBuyer, createPaymentHost, type PaymentHost } from './fixture.ts';

/** What the tests of a file sell with: one database for all of them, everything else anew for each. */
export interface Shop {
  readonly database: Database;
  readonly fake: FakeProvider;
  /** Has the provider alone. */
  host: PaymentHost;
  /** A buyer without orders. */
  accountId: string;
}

export interface ShopWithOrder extends Shop {
  /** The buyer's order of seven days, until a test starts another one. */
  order: Order;
  /** The order as the database has it. */
  reread(): Promise<Order>;
}

/** Opens a shop for each test of the file. */
export function useShop(): Shop {
  const shop = {} as { -readonly [Name in keyof Shop]: Shop[Name] };
  beforeAll(async () => {
    shop.database = await createTestDatabase();
  });
  afterAll(() => shop.database?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    shop.fake = new FakeProvider();
    shop.host = createPaymentHost(shop.database, [shop.fake.provider]);
    shop.accountId = await createBuyer(shop.database);
  });
  return shop;
}

/** Opens a shop for each test of the file, in which an order waits for its payment. */
export function useShopWithOrder(): ShopWithOrder {
  const shop = Object.assign(useShop(), {
    order: undefined as unknown as Order,
    reread: async () => (await readOrder(shop.database, { id: shop.order.id })) as Order,
  });
  beforeEach(async () => {
    shop.order = await startOrder(shop.host, shop.accountId, 7);
  });
  return shop;
}

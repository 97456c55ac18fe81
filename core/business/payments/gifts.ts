import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { Steps } from '#core/platform/database/steps.ts';
import type { Order } from './order-types.ts';
import { paymentsSection } from './section.ts';

/*
 * Gifts are orders whose days go to the account that redeems a code. They are sold, paid and refunded like other orders. A plugin creates
 * and redeems their codes.
 */

/** The code of a gift, which its buyer passes on. */
export interface GiftCode {
  readonly written: string; // as shown to people
  readonly path: string; // path of the page that redeems the code, with the code filled in
}

interface GiftSteps {
  /** Creates the code of a paid gift. Core has already locked the order, then the buyer's account. */
  issueGift(transaction: EntityManager, orderId: string): Promise<void>;
  /** Reads the code of an open gift; undefined if the secret used to create it has been replaced. */
  readGiftCode(database: Queries, orderId: string): Promise<GiftCode | undefined>;
  /** Returns whether any code can still be redeemed, including codes that are not gifts. */
  hasOpenCodes(database: Queries): Promise<boolean>;
}

/** Provided by the plugin that creates and redeems gift codes. */
export const giftSteps = new Steps<GiftSteps>();

export function sellsGifts({ database, section }: Pick<Host, 'database' | 'section'>): boolean {
  return section(paymentsSection).gifts && giftSteps.findLoader(database.fork()) !== undefined;
}

/** Reads the code of a gift for its buyer; undefined if it can no longer be redeemed or shown. */
export async function readGiftCode(
  database: Queries & Transactions,
  { id, gift }: Order,
): Promise<GiftCode | undefined> {
  if (gift?.state !== 'open') return undefined;
  const steps = await giftSteps.findLoader(database.fork())?.();
  return steps?.readGiftCode(database, id);
}

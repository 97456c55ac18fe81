import type { TextValues } from '#core/platform/sentences.ts';
import type { Order } from './order-types.ts';

/*
 * Codes of orders, for readers outside of gifts.
 */

interface Reader {
  readonly t: (key: string, values?: TextValues) => string;
  readonly format: { time(at: Date): { readonly text: string } };
}

/** For operators: the days of an order, and whether they are a gift. */
export function describePlan({ days, isGift }: Pick<Order, 'days' | 'isGift'>, { t }: Pick<Reader, 't'>): string {
  return t(isGift ? 'operator.days_gift' : 'operator.days', { count: days });
}

/** For commands: `30 (gift)`. */
export const printDays = ({ days, isGift }: Order): string => (isGift ? `${days} (gift)` : String(days));

/** For operators: state of an order's code; undefined for an order without one. */
export function describeCode({ isGift, gift, paidAt }: Order, { t, format }: Reader): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return t(paidAt === undefined ? 'operator.gift.unpaid' : 'operator.gift.none');
  const { state, hint, expiresAt, redeemedAt, revokedAt } = gift;
  return t(`operator.gift.${state}`, { hint, time: format.time(redeemedAt ?? revokedAt ?? expiresAt).text });
}

/** In the output of commands. */
export const codeHeading = 'gift';

/** For commands: what has become of an order's code, and who has its days. */
export function printCode(
  { isGift, gift, paidAt }: Order,
  { time }: { time(at: Date | undefined): string },
): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return paidAt === undefined ? 'not paid yet' : 'no code: its days went to the buyer';
  const { state, hint, expiresAt, redeemedAt, revokedAt, redeemedBy, period } = gift;
  const code = `…${hint}`;
  if (state === 'open') return `${code}, to be redeemed by ${time(expiresAt)}`;
  if (redeemedAt === undefined) return `${code}, ${state} ${time(revokedAt ?? expiresAt)}`;
  const days = period === undefined ? '' : `, ${time(period.startsAt)} to ${time(period.endsAt)}`;
  return `${code}, redeemed ${time(redeemedAt)} by ${redeemedBy}${days}`;
}

/** The account that has redeemed the code of an order. */
export const redeemerOf = ({ gift }: Order): string | undefined => gift?.redeemedBy;

/** True while the code of an order can be redeemed. */
export const hasOpenCode = ({ gift }: Order): boolean => gift?.state === 'open';

/** The period that an order bought, on any account. */
export const timeOf = ({ period, gift }: Order): Order['period'] => period ?? gift?.period;

import type { TextValues } from '#core/platform/sentences.ts';
import type { Order } from './order-types.ts';

/*
 * Presentation of orders and gift codes to operators, on pages and in commands.
 */

interface TextContext {
  readonly t: (key: string, values?: TextValues) => string;
  readonly format: { time(at: Date): { readonly text: string } };
}

/** Describes the days of an order, and whether they are a gift, for operators. */
export function describePlan({ days, isGift }: Pick<Order, 'days' | 'isGift'>, { t }: Pick<TextContext, 't'>): string {
  return t(isGift ? 'operator.days_gift' : 'operator.days', { count: days });
}

/** Prints the days of an order for commands: `30 (gift)`. */
export const printDays = ({ days, isGift }: Order): string => (isGift ? `${days} (gift)` : String(days));

/** Describes the state of a gift's code for operators; undefined if the order is not a gift. */
export function describeCode({ isGift, gift, paidAt }: Order, { t, format }: TextContext): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return t(paidAt === undefined ? 'operator.gift.unpaid' : 'operator.gift.none');
  const { state, hint, expiresAt, redeemedAt, revokedAt } = gift;
  return t(`operator.gift.${state}`, { hint, time: format.time(redeemedAt ?? revokedAt ?? expiresAt).text });
}

/** Heading of the code in the output of commands. */
export const codeHeading = 'gift';

/** Prints the state of a gift's code and the redeemer for commands; undefined if the order is not a gift. */
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

/** Returns the account that redeemed a gift's code. */
export const redeemerOf = ({ gift }: Order): string | undefined => gift?.redeemedBy;

export const hasOpenCode = ({ gift }: Order): boolean => gift?.state === 'open';

/** Returns the period that an order bought, for its buyer or the gift's redeemer. */
export const periodOf = ({ period, gift }: Order): Order['period'] => period ?? gift?.period;

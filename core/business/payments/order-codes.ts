import type { TextValues } from '#core/platform/sentences.ts';
import type { Order } from './order-types.ts';

/* How operators see orders and gift codes, on pages and in commands. */

interface TextContext {
  readonly t: (key: string, values?: TextValues) => string;
  readonly format: { time(at: Date): { readonly text: string } };
}

/** Describes an order's days for operators, and whether they are a gift. */
export function describePlan({ days, isGift }: Pick<Order, 'days' | 'isGift'>, { t }: Pick<TextContext, 't'>): string {
  return t(isGift ? 'operator.days_gift' : 'operator.days', { count: days });
}

/** Formats an order's days for commands: `30 (gift)`. */
export const formatDays = ({ days, isGift }: Order): string => (isGift ? `${days} (gift)` : String(days));

/** Describes the state of a gift code for operators; undefined if the order is not a gift. */
export function describeCode({ isGift, gift, paidAt }: Order, { t, format }: TextContext): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return t(paidAt === undefined ? 'operator.gift.unpaid' : 'operator.gift.none');
  const { state, hint, expiresAt, redeemedAt, revokedAt } = gift;
  return t(`operator.gift.${state}`, { hint, time: format.time(redeemedAt ?? revokedAt ?? expiresAt).text });
}

/** Heading for the code in command output. */
export const codeHeading = 'gift';

/** Formats the state of a gift code and its redeemer for commands; undefined if the order is not a gift. */
export function formatCode(
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

/** Returns the account that redeemed the gift code. */
export const redeemerOf = ({ gift }: Order): string | undefined => gift?.redeemedBy;

export const hasOpenCode = ({ gift }: Order): boolean => gift?.state === 'open';

/** Returns the period that an order bought for its buyer or, if it is a gift, for the redeemer. */
export const periodOf = ({ period, gift }: Order): Order['period'] => period ?? gift?.period;

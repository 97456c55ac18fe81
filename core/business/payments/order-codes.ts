import type { TextValues } from '#core/platform/sentences.ts';
import type { Order } from './order-types.ts';

/* How operators see orders and gift codes, on pages and in commands. */

interface TextContext {
  readonly t: (key: string, values?: TextValues) => string;
  readonly format: { time(at: Date): { readonly text: string } };
}

export function describePlan({ days, isGift }: Pick<Order, 'days' | 'isGift'>, { t }: Pick<TextContext, 't'>): string {
  return t(isGift ? 'operator.days_gift' : 'operator.days', { count: days });
}

export const formatDays = ({ days, isGift }: Order): string => (isGift ? `${days} (gift)` : String(days));

export function describeCode({ isGift, gift, paidAt }: Order, { t, format }: TextContext): string | undefined {
  if (!isGift) return undefined;
  if (gift === undefined) return t(paidAt === undefined ? 'operator.gift.unpaid' : 'operator.gift.none');
  const { state, hint, expiresAt, redeemedAt, revokedAt } = gift;
  return t(`operator.gift.${state}`, { hint, time: format.time(redeemedAt ?? revokedAt ?? expiresAt).text });
}

export const codeHeading = 'gift';

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

export const redeemerOf = ({ gift }: Order): string | undefined => gift?.redeemedBy;

export const hasOpenCode = ({ gift }: Order): boolean => gift?.state === 'open';

export const periodOf = ({ period, gift }: Order): Order['period'] => period ?? gift?.period;

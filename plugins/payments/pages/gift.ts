import { type GiftCode, readGiftCode } from '#core/business/payments/gifts.ts';
import type { Order } from '#core/business/payments/order.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { formatDays } from './order-view.ts';

export function formatPlan({ days, isGift }: Pick<Order, 'days' | 'isGift'>, request: Pick<PageRequest, 't'>): string {
  const plan = formatDays(days, request);
  return isGift ? request.t('payments.gift.plan', { days: plan }) : plan;
}

/** Never shows the buyer who redeemed the gift. */
export async function describeGift(order: Order, request: PageRequest) {
  const { host, t, format } = request;
  const { gift, days } = order;
  if (gift === undefined) return undefined;
  const time = (value: Date | undefined) => format.time(value ?? order.readAt).text;
  const ends = { open: gift.expiresAt, expired: gift.expiresAt, redeemed: gift.redeemedAt, revoked: gift.revokedAt };
  const isOpen = gift.state === 'open';
  return {
    kind: isOpen || gift.state === 'redeemed' ? 'ok' : 'warn',
    title: t(`payments.gift.${gift.state}`, { days: formatDays(days, request) }),
    state: t(`payments.gift.${gift.state}_more`, { time: time(ends[gift.state]) }),
    passOn: isOpen ? describeCode(await readGiftCode(host.database, order), request) : undefined,
  };
}

function describeCode(code: GiftCode | undefined, { t, host }: PageRequest) {
  const labels = { title: t('payments.gift.code'), hidden: t('payments.gift.hidden') };
  if (code === undefined) return { ...labels, parts: [] };
  const { written, path } = code;
  const copy = { code: t('payments.gift.copy'), link: t('payments.gift.copy_link') };
  return {
    ...labels,
    parts: [
      { id: 'code', text: t('payments.gift.code_more'), value: written, copy: copy.code, style: 'primary large' },
      {
        id: 'link',
        text: t('payments.gift.link'),
        value: host.service.baseUrl + path,
        copy: copy.link,
        style: 'large',
      },
    ],
  };
}

import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import type { WaitingListEntry } from '#core/business/payments/places.ts';
import type { Notice, NoticeSource } from '#core/web/pages/notices.ts';
import { type Localizer, accountOf } from '#core/web/pages/page.ts';
import { hasLimits, getPlaceLimits } from './section.ts';
import { findWait } from './waiting-list.ts';

export const waitNotices: NoticeSource = {
  name: 'sales',
  async show(request, _now, readers) {
    const { host } = request;
    if (readers !== 'customers' || !hasLimits(getPlaceLimits(host.section))) return [];
    const wait = await findWait(host, accountOf(request).id);
    if (wait === undefined || wait.isOrdered) return [];
    const path = getConfiguredProvider(host) === undefined ? '' : `/buy?days=${wait.days}`;
    return [describeWait(wait, path, request)];
  },
};

export function describeWait(
  { position, reservedUntil }: Pick<WaitingListEntry, 'position' | 'reservedUntil'>,
  path: string,
  { t, format }: Localizer,
): Notice {
  if (reservedUntil === undefined)
    return {
      kind: 'info',
      isOwn: true,
      title: t('home.wait', { position: format.number(position) }),
      text: t('home.wait_more'),
      action: path === '' ? undefined : { path, label: t('home.wait_open') },
    };
  return {
    kind: 'ok',
    isOwn: true,
    title: t('home.reserved', { time: format.time(reservedUntil).text }),
    text: t('home.reserved_more'),
    action: path === '' ? undefined : { path, label: t('home.wait_choose') },
  };
}

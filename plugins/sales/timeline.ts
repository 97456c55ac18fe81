import type { ReadTimeline, TimelineEntry } from '#core/web/pages/account-timeline.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import { listWaits, type PastWait } from './waiting-list.ts';

const maxWaits = 10;

export const readWaitTimeline: ReadTimeline = async (request, accountId) => {
  const waits = await listWaits(request.host.database, accountId, maxWaits);
  return waits.flatMap((wait) => describeWaitEvents(wait, request));
};

/** Exported for tests. */
export function describeWaitEvents(
  { days, joinedAt, reservedAt, reservedUntil }: PastWait,
  { t, format }: Localizer,
): TimelineEntry[] {
  const text = t('operator.days', { count: days });
  const joined: TimelineEntry = {
    topic: 'access',
    at: joinedAt,
    icon: 'waiting',
    title: t('operator.story.waits'),
    text,
  };
  if (reservedAt === undefined || reservedUntil === undefined) return [joined];
  const until = t('operator.waiting_reserved', { time: format.dayTime(reservedUntil).text });
  const title = t('operator.story.reserved');
  return [joined, { topic: 'access', at: reservedAt, icon: 'ok', title, text: `${text} · ${until}` }];
}

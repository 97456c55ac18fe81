import type { Notice, NoticeSource } from '#core/web/pages/notices.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';
import { type CreditedTime, listCredits } from './credit.ts';
import { outagesSection } from './section.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

/** How long a credit is explained, days. */
const creditDays = 30;

/** Notice on the home page of accounts with recent credits. */
export const creditNotices: NoticeSource = {
  name: 'outages',
  async show(request, _now, readers) {
    const { host } = request;
    if (readers !== 'customers' || !host.section(outagesSection).credit) return [];
    const notice = describeCredits(await listCredits(host.database, accountOf(request).id, creditDays), request);
    return notice === undefined ? [] : [notice];
  },
};

const own = { kind: 'info', isOwn: true } as const;

/** Credits named individually in a notice about several. */
const namedCredits = 3;

/**
 * Describes credits for outages: "+ 23 minutes: dp/gpt-6-sol was down on 21 Nov", or the sum of several with the newest ones; undefined
 * without any.
 */
export function describeCredits(credits: readonly CreditedTime[], { t, format }: Reader): Notice | undefined {
  const [one, ...more] = credits;
  if (one === undefined) return undefined;
  const timeOf = (seconds: number) => creditText(Math.max(1, Math.round(seconds / 60)), t);
  const day = (at: Date) => format.shortDay(at).text;
  if (more.length === 0)
    return { ...own, title: t('home.credit', { time: timeOf(one.seconds), model: one.model, day: day(one.fromAt) }) };
  const named = credits
    .slice(0, namedCredits)
    .map(({ model, fromAt }) => t('home.credit_of', { model, day: day(fromAt) }));
  const others = credits.length - named.length;
  return {
    ...own,
    title: t('home.credits', { time: timeOf(credits.reduce((sum, { seconds }) => sum + seconds, 0)) }),
    text: [...named, ...(others === 0 ? [] : [t('home.credits_more', { count: others })])].join(' · '),
  };
}

/** `23 minutes`, `5 hours`, `5 hours 12 minutes`. */
function creditText(minutes: number, t: Reader['t']): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const parts = [
    hours === 0 ? '' : t('home.credit_hours', { count: hours }),
    rest === 0 ? '' : t('home.credit_minutes', { count: rest }),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

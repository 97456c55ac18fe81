import type { Notice, NoticeSource } from '#core/web/pages/notices.ts';
import { type Localizer, accountOf } from '#core/web/pages/page.ts';
import { type AccountCredit, listCredits } from './credit.ts';
import { outagesSection } from './section.ts';

const shownCreditDays = 30;

export const creditNotices: NoticeSource = {
  name: 'outages',
  async show(request, _now, readers) {
    const { host } = request;
    if (readers !== 'customers' || !host.section(outagesSection).credit) return [];
    const notice = describeCredits(await listCredits(host.database, accountOf(request).id, shownCreditDays), request);
    return notice === undefined ? [] : [notice];
  },
};

const ownNotice = { kind: 'info', isOwn: true } as const;

const namedCredits = 3;

/** Names the model of a single credit; for several credits, shows their sum and the newest outages. */
export function describeCredits(credits: readonly AccountCredit[], { t, format }: Localizer): Notice | undefined {
  const [first, ...others] = credits;
  if (first === undefined) return undefined;
  const formatCredit = (seconds: number) => formatMinutes(Math.max(1, Math.round(seconds / 60)), t);
  const day = (at: Date) => format.shortDay(at).text;
  if (others.length === 0)
    return {
      ...ownNotice,
      title: t('home.credit', { time: formatCredit(first.seconds), model: first.model, day: day(first.fromAt) }),
    };
  const listedOutages = credits
    .slice(0, namedCredits)
    .map(({ model, fromAt }) => t('home.credit_of', { model, day: day(fromAt) }));
  const moreCount = credits.length - listedOutages.length;
  return {
    ...ownNotice,
    title: t('home.credits', { time: formatCredit(credits.reduce((sum, { seconds }) => sum + seconds, 0)) }),
    text: [...listedOutages, ...(moreCount === 0 ? [] : [t('home.credits_more', { count: moreCount })])].join(' · '),
  };
}

function formatMinutes(minutes: number, t: Localizer['t']): string {
  const [hours, remainingMinutes] = [Math.floor(minutes / 60), minutes % 60];
  const parts = [
    hours === 0 ? '' : t('home.credit_hours', { count: hours }),
    remainingMinutes === 0 ? '' : t('home.credit_minutes', { count: remainingMinutes }),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

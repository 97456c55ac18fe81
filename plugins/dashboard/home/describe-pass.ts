import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import type { PassState } from '#core/business/accounts/pass-state.ts';
import type { RefundedPass } from '#core/business/accounts/plan-end.ts';
import { translateRecordedLabel } from '#core/business/accounts/plans.ts';
import type { OpenOrder } from '#core/business/payments/order-view.ts';
import { daysBetween, ticks } from '#core/web/pages/geometry.ts';
import type { PageRequest, Localizer } from '#core/web/pages/page.ts';

const dayMs = 86_400_000;

const reminderLimits = { share: 1 / 4, maxMs: dayMs }; // the last `share` of a pass, but at most `maxMs` before its end
const grantNoticeMs = 7 * dayMs;

export function describePass(pass: PassState, now: number, { t, format }: Localizer) {
  const { kind, startsAt, endsAt } = pass;
  if (kind !== 'active' || startsAt === undefined || endsAt === undefined)
    return { ...describeInactive(pass, now, { t, format }), ticks: createEmptyTicks() };
  const days = daysBetween(startsAt.getTime(), endsAt.getTime());
  const remainingMs = Math.round(endsAt.getTime() - now);
  return {
    label: t('home.pass.label', { count: days }),
    status: { kind: 'ok', text: t('home.pass.active') },
    left: remainingMs,
    remaining: format.remaining(remainingMs),
    ticks: ticks(days, startsAt.getTime(), endsAt.getTime(), now),
    starts: { label: t('home.pass.started'), ...format.dayTime(startsAt, now) },
    ends: { label: t('home.pass.ends'), ...format.dayTime(endsAt, now) },
  };
}

function describeInactive({ kind, startsAt, endsAt }: PassState, now: number, { t, format }: Localizer) {
  const label = t('home.pass.yours');
  if (kind === 'starts_later' && startsAt !== undefined)
    return {
      label,
      title: t('home.pass.none'),
      starts: { label: t('home.pass.starts'), ...format.dayTime(startsAt, now) },
    };
  const title = t('home.pass.none');
  if (endsAt === undefined) return { label, title, text: t('home.pass.choose') };
  return { label, title, ends: { label: t('home.pass.ended'), ...format.dayTime(endsAt, now) } };
}

function createEmptyTicks() {
  return ticks(7, 0, 1, 1);
}

export function describeReminder(
  { kind, startsAt, endsAt }: PassState,
  now: number,
  buyPath: string,
  { t, format }: Localizer,
  refunded?: RefundedPass,
) {
  const action =
    buyPath === '' ? undefined : { path: buyPath, label: t(kind === 'active' ? 'home.renew' : 'home.choose_plan') };
  if (kind === 'ended' && endsAt !== undefined)
    return {
      kind: 'bad' as const,
      title: t('home.reminder.ended', { time: format.dayTime(endsAt, now).text }),
      text: t(refunded === undefined ? 'home.reminder.ended_more' : `home.reminder.refunded.${refunded}`),
      action,
    };
  if (kind !== 'active' || startsAt === undefined || endsAt === undefined) return undefined;
  const remainingMs = endsAt.getTime() - now;
  if (remainingMs > Math.min(reminderLimits.maxMs, (endsAt.getTime() - startsAt.getTime()) * reminderLimits.share))
    return undefined;
  return { kind: 'warn' as const, title: describeEnd(remainingMs, t), text: t('home.reminder.ending_more'), action };
}

export function describeOrder(
  { order: { code, price, currency, expiresAt }, view }: OpenOrder,
  { t, format }: Localizer,
) {
  const isPaid = view === 'seen' || view === 'wrong';
  const values = { code, price: format.money(price, currency), time: format.dayTime(expiresAt).text };
  return {
    kind: 'info' as const,
    title: t(isPaid ? 'home.order_checked' : 'home.order_waits', values),
    text: isPaid ? t('home.order_checked_more') : t('home.order_waits_more', values),
    action: { path: `/orders/${code}`, label: t('home.order_open') },
  };
}

export function describeGrant(
  { periods }: AccountRecord,
  now: number,
  { t, format, language, host }: Localizer & Pick<PageRequest, 'language' | 'host'>,
) {
  const grant = periods
    .filter(({ grantedAt }) => grantedAt !== undefined && now - grantedAt.getTime() < grantNoticeMs)
    .toSorted((a, b) => (a.grantedAt?.getTime() ?? 0) - (b.grantedAt?.getTime() ?? 0))
    .at(-1);
  if (grant === undefined) return undefined;
  const count = Math.round((grant.endsAt.getTime() - grant.startsAt.getTime()) / dayMs);
  const ends = format.dayTime(grant.endsAt, now).text;
  return {
    kind: 'info' as const,
    title: translateRecordedLabel(language, grant.label, host),
    text: t('home.granted', { count, time: ends }),
  };
}

function describeEnd(remainingMs: number, t: Localizer['t']): string {
  const hours = Math.floor(remainingMs / 3_600_000);
  if (hours > 0) return t('home.reminder.hours', { count: hours });
  return t('home.reminder.minutes', { count: Math.max(1, Math.ceil(remainingMs / 60_000)) });
}

import { plansSection } from '#core/business/accounts/plans.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { axisBar, latencyBar, ticks } from '#core/web/pages/geometry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

const day = 86_400_000;
/** Remaining share of the sample pass: 4 d 07:12:45 of 7 days. */
const leftShare = 371_565 / 604_800;

/** Returns a sample pass: the recommended plan, or the middle one. Its countdown does not run. */
export function samplePass({ host, t, format }: PageRequest) {
  const plans = host.section(plansSection);
  const sold = plans.find(({ recommended }) => recommended === true) ?? plans[Math.floor(plans.length / 2)];
  const days = sold?.days ?? 7;
  const length = days * day;
  const left = Math.round((leftShare * length) / 1_000) * 1_000;
  const now = host.now();
  const end = now + left;
  return {
    label: t('landing.sample.label', { count: days }),
    status: { text: t('landing.sample') },
    remaining: format.remaining(left),
    ticks: ticks(days, end - length, end, now),
    starts: { label: t('landing.sample.started'), ...format.shortDay(new Date(end - length)) },
    ends: { label: t('landing.sample.ends'), ...format.dayTime(new Date(end)) },
  };
}

/** Ms to the first token and total ms, for the rows under the sample pass. */
const rows = [
  { firstToken: 710, total: 6840 },
  { firstToken: 1090, total: 4280 },
  { firstToken: 1400, total: 2020 },
] as const;

/** Returns up to three sample requests to models of this catalog; one to a model with a backup shows failover. */
export function sampleRows({ models }: Catalog, { format }: PageRequest) {
  const shown = models.slice(0, rows.length);
  const backed = shown.filter(({ routes }) => routes.length > 1);
  const withFailover = backed[1] ?? backed[0];
  return shown.map((model, index) => {
    const { firstToken, total } = rows[index] ?? rows[0];
    return {
      model: model.publicName,
      hasFailover: model === withFailover,
      total: format.duration(total).text,
      bar: latencyBar(firstToken, total, rows[0].total),
    };
  });
}

/** Returns a request whose first route failed, on a single time axis. */
export function sampleAttempts({ t, format }: PageRequest) {
  const [failedAt, firstToken, total] = [412, 1090, 4280];
  const values = { input: 1284, output: 402, time: format.duration(firstToken).text };
  return [
    {
      kind: 'bad',
      name: `1 · ${t('landing.attempts.first')}`,
      span: format.span(0, failedAt),
      text: t('landing.attempts.failed'),
      bar: { run: axisBar(0, failedAt, total), isFailed: true },
    },
    {
      kind: 'ok',
      name: `2 · ${t('landing.attempts.backup')}`,
      span: format.span(failedAt, total),
      text: t('landing.attempts.answered', values),
      bar: { wait: axisBar(failedAt, firstToken, total), run: axisBar(firstToken, total, total) },
    },
  ];
}

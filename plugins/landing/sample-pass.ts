import { plansSection } from '#core/business/accounts/plans.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { axisBar, latencyBar, ticks } from '#core/web/pages/geometry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

const dayMs = 86_400_000;
const remainingShare = 371_565 / 604_800; // 4 d 07:12:45 of 7 days

export function describeSamplePass({ host, t, format }: PageRequest) {
  const plans = host.section(plansSection);
  const samplePlan = plans.find(({ recommended }) => recommended === true) ?? plans[Math.floor(plans.length / 2)];
  const days = samplePlan?.days ?? 7;
  const lengthMs = days * dayMs;
  const remainingMs = Math.round((remainingShare * lengthMs) / 1_000) * 1_000;
  const now = host.now();
  const end = now + remainingMs;
  return {
    label: t('landing.sample.label', { count: days }),
    status: { text: t('landing.sample') },
    remaining: format.remaining(remainingMs),
    ticks: ticks(days, end - lengthMs, end, now),
    starts: { label: t('landing.sample.started'), ...format.shortDay(new Date(end - lengthMs)) },
    ends: { label: t('landing.sample.ends'), ...format.dayTime(new Date(end)) },
  };
}

const sampleTimings = [
  { firstTokenMs: 710, totalMs: 6840 },
  { firstTokenMs: 1090, totalMs: 4280 },
  { firstTokenMs: 1400, totalMs: 2020 },
] as const;

/** One row shows a failover if any model has a backup. */
export function describeSampleRows({ models }: Catalog, { format }: PageRequest) {
  const sampleModels = models.slice(0, sampleTimings.length);
  const modelsWithBackup = sampleModels.filter(({ routes }) => routes.length > 1);
  const failoverModel = modelsWithBackup[1] ?? modelsWithBackup[0];
  return sampleModels.map((model, index) => {
    const { firstTokenMs, totalMs } = sampleTimings[index] ?? sampleTimings[0];
    return {
      model: model.publicName,
      hasFailover: model === failoverModel,
      total: format.duration(totalMs).text,
      bar: latencyBar(firstTokenMs, totalMs, sampleTimings[0].totalMs),
    };
  });
}

export function describeSampleAttempts({ t, format }: PageRequest) {
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

import { type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { recentRetirements } from './notes.ts';
import { retirementsPath } from './resource.ts';
import { readRetirements, type Retirement, shownDay } from './retirements.ts';

const listed = 10;

/** Routes whose vendors retire their models. */
export const retirementProblems: ProblemKind = {
  name: 'retirement',
  order: 35,
  runbook: 'model-retired',
  async find(reader) {
    const all = await recentRetirements(reader.host);
    const problems = all.slice(0, listed).map((one) => ({
      severity: one.state !== 'ending' && one.lost.length > 0 ? ('bad' as const) : ('warn' as const),
      title: reader.t('retirements.problem'),
      subject: one.route,
      pieces: readEmphasis(describe(one, reader)),
      since: one.missingSince === undefined ? undefined : new Date(one.missingSince),
      step: { path: retirementsPath },
    }));
    return Object.assign(problems, { total: all.length });
  },
  alert: {
    event: 'model.retiring',
    async compose({ route }, reader) {
      const { t } = reader;
      const one = (await readRetirements(reader.host)).find((retirement) => retirement.route === route);
      if (one === undefined) return 'the vendor does not retire it any more, or no model has the route';
      return {
        title: t('retirements.alert', { route: one.route }),
        text: describe(one, reader).replaceAll('*', ''),
        facts: [
          [t('retirements.models'), one.models.join(', ')],
          [t('retirements.lost'), one.lost.join(', ')],
          [t('retirements.successor'), one.successor ?? ''],
        ].filter(([, value]) => value !== '') as [string, string][],
        path: retirementsPath,
        data: {
          route: one.route,
          state: one.state,
          ends_on: one.endsOn ?? null,
          models: [...one.models],
          models_lost: [...one.lost],
          successor: one.successor ?? null,
        },
      };
    },
  },
};

function describe({ route, state, endsOn, successor, lost }: Retirement, { t, format }: ProblemReader): string {
  const day = shownDay(endsOn, format);
  return [
    t(`retirements.problem.${state}`, { route, day }),
    lost.length > 0
      ? t('retirements.effect.lost', { count: lost.length, models: lost.slice(0, 3).join(', ') })
      : t('retirements.effect.backed'),
    ...(successor === undefined ? [] : [t('retirements.suggests', { successor })]),
  ].join(' ');
}

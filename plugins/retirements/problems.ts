import { type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { recentRetirements } from './notes.ts';
import { retirementsPath } from './resource.ts';
import { readRetirements, type Retirement, formatDay } from './retirements.ts';

export const retirementProblems: ProblemKind = {
  name: 'retirement',
  order: 35,
  maxListed: 10,
  runbook: 'model-retired',
  async find(reader) {
    const retirements = await recentRetirements(reader.host).get();
    return retirements.map((retirement) => ({
      severity: retirement.state !== 'ending' && retirement.lost.length > 0 ? ('bad' as const) : ('warn' as const),
      title: reader.t('retirements.problem'),
      subject: retirement.route,
      pieces: readEmphasis(describeRetirement(retirement, reader)),
      since: retirement.missingSince === undefined ? undefined : new Date(retirement.missingSince),
      step: { path: retirementsPath },
    }));
  },
  alert: {
    event: 'model.retiring',
    async compose({ route }, reader) {
      const { t } = reader;
      const current = (await readRetirements(reader.host)).find((retirement) => retirement.route === route);
      if (current === undefined) return 'the vendor no longer plans to retire it, or no model uses the route';
      return {
        title: t('retirements.alert', { route: current.route }),
        text: describeRetirement(current, reader).replaceAll('*', ''),
        facts: [
          [t('retirements.models'), current.models.join(', ')],
          [t('retirements.lost'), current.lost.join(', ')],
          [t('retirements.successor'), current.successor ?? ''],
        ].filter(([, value]) => value !== '') as [string, string][],
        path: retirementsPath,
        data: {
          route: current.route,
          state: current.state,
          ends_on: current.endsOn ?? null,
          models: [...current.models],
          models_lost: [...current.lost],
          successor: current.successor ?? null,
        },
      };
    },
  },
};

function describeRetirement(
  { route, state, endsOn, successor, lost }: Retirement,
  { t, format }: ProblemReader,
): string {
  const day = formatDay(endsOn, format);
  return [
    t(`retirements.problem.${state}`, { route, day }),
    lost.length > 0
      ? t('retirements.effect.lost', { count: lost.length, models: lost.slice(0, 3).join(', ') })
      : t('retirements.effect.backed'),
    ...(successor === undefined ? [] : [t('retirements.suggests', { successor })]),
  ].join(' ');
}

import { inBrackets, type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { type Balance, countActivePasses, isUsedUp, selectLowBalances, readBalances } from './balances.ts';
import { balancesPath } from './resource.ts';
import { roundDays, describeDays, getRecentBalances } from './state.ts';

declare module '#core/gateway/events/events.ts' {
  interface EventTypes {
    /** An account at a vendor has run out, or will within days. Sent at most once a day. */
    'balance.low': { readonly day: string; readonly since: string };
  }
}

const maxNamed = 3;

export const balanceProblems: ProblemKind = {
  name: 'balance',
  order: 30,
  maxListed: 10,
  runbook: 'balance-low',
  async find(reader) {
    const { host, t } = reader;
    const lowBalances = selectLowBalances(host, await getRecentBalances(host));
    if (lowBalances.length === 0) return [];
    const passes = await countActivePasses(host.database);
    return lowBalances.map((balance) => ({
      severity: roundDays(balance) < 1 ? ('bad' as const) : ('warn' as const),
      title: t('balances.problem'),
      subject: balance.upstreams.join(', '),
      pieces: [
        ...readEmphasis(describeBalance(balance, reader)),
        { text: ` ${describeEffect(balance, passes, reader)}` },
        { text: inBrackets(balance.error ?? '') },
      ],
      step: { path: balancesPath },
    }));
  },
  alert: {
    event: 'balance.low',
    isWatched: true,
    async compose(_payload, reader) {
      const { host, t } = reader;
      const lowBalances = selectLowBalances(host, await readBalances(host));
      if (lowBalances.length === 0) return 'no balance is running low any more';
      const passes = await countActivePasses(host.database);
      return {
        title: t('balances.alert', { upstreams: lowBalances.flatMap(({ upstreams }) => upstreams).join(', ') }),
        text: t('balances.advice'),
        facts: lowBalances.map((balance) => [
          balance.upstreams.join(', '),
          `${describeBalance(balance, reader).replaceAll('*', '')} ${describeEffect(balance, passes, reader)}`,
        ]),
        path: balancesPath,
        data: {
          passes,
          balances: lowBalances.map(({ upstreams, amount, currency, days, lostModels }) => ({
            upstreams: [...upstreams],
            amount: amount ?? null,
            currency: currency ?? null,
            days_left: days ?? null,
            models_lost: [...lostModels],
          })),
        },
      };
    },
  },
};

function describeBalance(balance: Balance, { t, format }: ProblemReader): string {
  const { upstreams, amount, currency } = balance;
  const values = {
    upstreams: upstreams.join(', '),
    amount: amount === undefined ? '' : `${format.number(Math.round(amount * 100) / 100)} ${currency}`,
    days: describeDays(balance, { t, format }),
  };
  if (!isUsedUp(balance)) return t('balances.problem.low', values);
  return t(amount === undefined || amount > 0 ? 'balances.problem.refused' : 'balances.problem.spent', values);
}

/** Example: `212 passes lose 4 models`, where a pass is an account with paid time. */
export function describeEffect(
  { lostModels, backedModelCount }: Pick<Balance, 'lostModels' | 'backedModelCount'>,
  passes: number,
  { t }: Pick<ProblemReader, 't'>,
): string {
  if (lostModels.length === 0) return t('balances.effect.backed', { count: backedModelCount });
  const names = `${lostModels.slice(0, maxNamed).join(', ')}${lostModels.length > maxNamed ? ', …' : ''}`;
  return t('balances.effect.lost', {
    count: passes,
    models: t('balances.model_count', { count: lostModels.length }),
    names,
  });
}

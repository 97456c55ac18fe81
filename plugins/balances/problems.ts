import { inBrackets, type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { type Balance, countActivePasses, isOver, lowBalances, readBalances } from './balances.ts';
import { balancesPath } from './resource.ts';
import { daysOf, describeDays, recentBalances } from './state.ts';

declare module '#core/gateway/events/events.ts' {
  interface EventTypes {
    /** An account at a vendor runs out within days, or has run out. Sent at most once a day. */
    'balance.low': { readonly day: string; readonly since: string };
  }
}

/** Maximum number of listed accounts, and of named models. */
const listed = 10;
const named = 3;

/** Accounts at vendors that run out soon. */
export const balanceProblems: ProblemKind = {
  name: 'balance',
  order: 30,
  runbook: 'balance-low',
  async find(reader) {
    const { host, t } = reader;
    const low = lowBalances(host, await recentBalances(host));
    if (low.length === 0) return [];
    const passes = await countActivePasses(host.database);
    const problems = low.slice(0, listed).map((balance) => ({
      severity: daysOf(balance) < 1 ? ('bad' as const) : ('warn' as const),
      title: t('balances.problem'),
      subject: balance.upstreams.join(', '),
      pieces: [
        ...readEmphasis(describeBalance(balance, reader)),
        { text: ` ${describeEffect(balance, passes, reader)}` },
        { text: inBrackets(balance.error ?? '') },
      ],
      step: { path: balancesPath },
    }));
    return Object.assign(problems, { total: low.length });
  },
  alert: {
    event: 'balance.low',
    isWatched: true,
    async compose(_payload, reader) {
      const { host, t } = reader;
      const low = lowBalances(host, await readBalances(host));
      if (low.length === 0) return 'all accounts last longer again';
      const passes = await countActivePasses(host.database);
      return {
        title: t('balances.alert', { upstreams: low.flatMap(({ upstreams }) => upstreams).join(', ') }),
        text: t('balances.advice'),
        facts: low.map((one) => [
          one.upstreams.join(', '),
          `${describeBalance(one, reader).replaceAll('*', '')} ${describeEffect(one, passes, reader)}`,
        ]),
        path: balancesPath,
        data: {
          passes,
          balances: low.map(({ upstreams, amount, currency, days, lost }) => ({
            upstreams: [...upstreams],
            amount: amount ?? null,
            currency: currency ?? null,
            days_left: days ?? null,
            models_lost: [...lost],
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
  if (!isOver(balance)) return t('balances.problem.low', values);
  return t(amount === undefined || amount > 0 ? 'balances.problem.refused' : 'balances.problem.spent', values);
}

/** Describes the effect of the balance running out: `212 passes lose 4 models`. @param passes accounts with paid time */
export function describeEffect(
  { lost, backed }: Pick<Balance, 'lost' | 'backed'>,
  passes: number,
  { t }: Pick<ProblemReader, 't'>,
): string {
  if (lost.length === 0) return t('balances.effect.backed', { count: backed });
  const names = `${lost.slice(0, named).join(', ')}${lost.length > named ? ', …' : ''}`;
  return t('balances.effect.lost', {
    count: passes,
    models: t('balances.model_count', { count: lost.length }),
    names,
  });
}

import { formatMoney } from '#core/business/accounts/money.ts';
import { formatSection, formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { BookTotals } from './match-books.ts';
import type { Reconciliation } from './reconcile.ts';

export function describeReconciliation(reconciliation: Reconciliation, currency: string, timeZone: string): string[] {
  const { provider, isList, here, stated, differences, unread } = reconciliation;
  const sums = ({ payments, refunds, fees }: BookTotals) => [
    `${payments.count}`,
    formatMoney(payments.amount, currency),
    `${refunds.count}`,
    formatMoney(refunds.amount, currency),
    formatMoney(fees, currency),
    formatMoney(payments.amount - refunds.amount - fees, currency),
  ];
  return [
    provider,
    ...formatTable(
      ['books', 'payments', 'amount', 'refunds', 'amount', 'fees', 'net'],
      [
        ['this gateway', ...sums(here)],
        [provider, ...sums(stated)],
      ],
    ).map((line) => `  ${line}`),
    ...(isList
      ? []
      : [`  ${provider} cannot list payments, so each charge was queried; payments without a charge are not found.`]),
    ...(unread === 0
      ? []
      : [`  ${unread} ${unread === 1 ? 'charge' : 'charges'} could not be read. Reconcile the day again later.`]),
    ...(unread === 0 && differences.length === 0 ? ['  no differences'] : []),
    ...(differences.length === 0
      ? []
      : formatSection(
          '  differences, each flagged',
          formatTable(
            ['difference', 'kind', `time (${timeZone})`, 'reference', 'here', `at ${provider}`, 'name'],
            differences.map((difference) => [
              { here: 'only here', provider: `only at ${provider}`, amount: 'different amount' }[difference.side],
              difference.kind,
              formatTime(difference.at, timeZone),
              difference.reference ?? '',
              difference.side === 'provider' ? '' : formatMoney(difference.amount, difference.currency),
              difference.statedAmount === undefined ? '' : formatMoney(difference.statedAmount, difference.currency),
              difference.id,
            ]),
          ),
        )),
  ];
}

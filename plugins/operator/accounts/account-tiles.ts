import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import { readAccountRevenue } from '#core/business/payments/revenue.ts';
import { type KeyUse, readKeyUse } from '#core/gateway/records/key-use.ts';
import type { UsageCounts } from '#core/gateway/records/usage.ts';
import type { PageRequest, Localizer } from '#core/web/pages/page.ts';
import type { CostNotes } from '#core/web/pages/usage-costs.ts';
import type { FormattedRemaining } from '#core/web/texts/durations.ts';
import { joinParts } from '#core/web/texts/formatter.ts';

const keyUseDays = 7;
const dayMs = 86_400_000;

/** Client addresses are only a hint: one person with a laptop and a phone also has several. */
export async function describeAccountTiles(
  { id, periods, readAt }: AccountRecord,
  usage: readonly UsageCounts[],
  costs: CostNotes | undefined,
  request: PageRequest,
) {
  const { host, t, format } = request;
  const { database } = host;
  const currency = host.section(currencySection);
  const [revenue, keyUse] = await Promise.all([
    readAccountRevenue(database, id, currency),
    readKeyUse(database, [id], host.now() - keyUseDays * dayMs),
  ]);
  return [
    describePass(periods.at(-1)?.endsAt, readAt, { t, format }),
    {
      label: t('operator.paid_so_far'),
      value: format.money(revenue.amount, currency),
      note: joinParts(t('operator.paid_orders', { count: revenue.orders }), costs?.left),
    },
    describeRequests(usage, costs, { t, format }),
    describeKeyUse(keyUse.get(id), { t, format }),
  ];
}

function describePass(end: Date | undefined, readAt: number, { t, format }: Localizer) {
  const label = t('operator.fact.pass');
  if (end === undefined) return { label, value: t('operator.plan_none'), note: '' };
  const remainingMs = end.getTime() - readAt;
  const time = format.time(end).text;
  if (remainingMs <= 0) return { label, value: t('operator.plan_over'), note: t('operator.pass_ended', { time }) };
  return { label, value: dropSeconds(format.remaining(remainingMs)), note: t('operator.pass_ends', { time }) };
}

function describeRequests(usage: readonly UsageCounts[], costs: CostNotes | undefined, { t, format }: Localizer) {
  const sum = (name: 'requests' | 'refused' | 'failed') => usage.reduce((total, counts) => total + counts[name], 0);
  const requests = sum('requests');
  const label = t('operator.requests_30d');
  if (requests === 0) return { label, value: format.number(0), note: '' };
  const share = (name: 'refused' | 'failed') => format.percent(sum(name) / requests);
  const split = t('operator.requests_split', { refused: share('refused'), failed: share('failed') });
  return { label, value: format.number(requests), note: joinParts(split, costs?.cost) };
}

function dropSeconds({ days, unit, clock }: FormattedRemaining): string {
  // This tile does not count down.
  return days === '' ? clock : `${days} ${unit} ${clock.slice(0, -3)}`;
}

function describeKeyUse(keyUse: KeyUse | undefined, { t, format }: Localizer) {
  const label = t('operator.used_from', { count: keyUseDays });
  if (keyUse === undefined) return { label, value: '—', note: t('operator.used_never') };
  return {
    label,
    value: t('operator.addresses_count', { count: keyUse.addresses }),
    note: joinParts(
      keyUse.programs.join(', '),
      t('operator.clients_count', { count: keyUse.clients }),
      t('operator.at_once', { count: format.number(keyUse.atOnce) }),
    ),
  };
}

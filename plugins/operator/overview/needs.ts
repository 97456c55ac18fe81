import type { PageRequest } from '#core/pages/page.ts';
import { listOpenFlags, type OpenFlag, severityOf } from '#core/payments/open-flags.ts';
import { readEmphasis } from '../emphasis.ts';

/** Flags on the overview; the others are in the list of orders. */
const listedFlags = 10;

/** What waits for a decision of the operator: the worst first, then the oldest. */
export async function describeNeeds(request: PageRequest) {
  const { flags, total } = await listOpenFlags(request.host.database, listedFlags);
  return {
    needs: flags.map((flag) => describeNeed(flag, request)),
    needsTotal: request.t('operator.needs_open', { count: total }),
    moreNeeds: total > flags.length ? request.t('operator.needs_more', { count: total - flags.length }) : '',
  };
}

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** One flag, ready to be printed. */
export function describeNeed(flag: OpenFlag, { t, format, host }: Reader) {
  const { id, kind, orderCode, buyer, createdAt } = flag;
  return {
    id,
    status: { kind: severityOf(kind), text: t(`operator.flag.${kind}`) },
    order: orderCode,
    buyer,
    pieces: readEmphasis(describeMoney(flag, { t, format })),
    since: format.relative(createdAt, new Date(host.now())),
    path: `/operator/flags/${id}`,
  };
}

function describeMoney({ kind, days, price, currency, money }: OpenFlag, { t, format }: Pick<Reader, 't' | 'format'>) {
  const values = {
    count: days,
    price: format.money(price, currency),
    amount: money === undefined ? '' : format.money(money.amount, money.currency),
  };
  return t(money === undefined ? 'operator.flag_text.without_amount' : `operator.flag_text.${kind}`, values);
}

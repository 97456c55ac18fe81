import { listOpenFlags, type OpenFlag, severityOfFlag } from '#core/business/payments/flags.ts';
import { maxUnconfirmedMs, readOldestUnconfirmed } from '#core/business/payments/payment-figures.ts';
import { formatAccountName } from '../pages/account-name.ts';
import { flaggedAlert, foreignAlert, unconfirmedAlert } from './money-alerts.ts';
import { type Problem, type ProblemKind, type ProblemReader, readEmphasis } from './problem.ts';

const maxListed = 10;

const unconfirmedProblem: ProblemKind = {
  name: 'payments_unconfirmed',
  order: 120,
  runbook: 'payments-unconfirmed',
  alert: unconfirmedAlert,
  precondition: 'EXISTS (SELECT FROM payment_notification WHERE next_try_at IS NOT NULL)',
  async find({ host, t }) {
    const oldest = await readOldestUnconfirmed(host.database);
    if (oldest === undefined || host.now() - oldest <= maxUnconfirmedMs) return [];
    return [
      {
        severity: 'bad',
        title: t('problem.unconfirmed'),
        pieces: [{ text: t('problem.unconfirmed.text') }],
        since: new Date(oldest),
        step: { path: '/operator/orders' },
      },
    ];
  },
};

/** Money at providers that belongs to no order. Shown as one entry, because it may belong to another system that uses the same account. */
const foreignMoneyProblem: ProblemKind = {
  name: 'foreign_money',
  order: 130,
  runbook: 'flags-open',
  alert: foreignAlert,
  precondition: 'EXISTS (SELECT FROM order_flag WHERE resolved_at IS NULL AND order_id IS NULL)',
  async find({ host, t }) {
    const { flags, total } = await listOpenFlags(host.database, 1, 'no order');
    return flags.map(({ createdAt }) => ({
      severity: 'warn',
      title: t('operator.flag.not_in_books'),
      pieces: readEmphasis(t('problem.foreign_money', { count: total })),
      since: createdAt,
      step: {
        path: '/operator/flags#foreign',
        text: t('operator.need_look'),
        label: t('operator.flags_foreign'),
      },
    }));
  },
};

const flaggedProblem: ProblemKind = {
  name: 'order_flagged',
  order: 140,
  runbook: 'flags-open',
  alert: flaggedAlert,
  precondition: 'EXISTS (SELECT FROM order_flag WHERE resolved_at IS NULL AND order_id IS NOT NULL)',
  async find(reader) {
    const { flags, total } = await listOpenFlags(reader.host.database, maxListed, 'orders');
    const problems = flags.map((flag) => describeFlag(flag, reader));
    return Object.assign(problems, { total });
  },
};

export const moneyProblems = [unconfirmedProblem, foreignMoneyProblem, flaggedProblem];

export function describeFlag(flag: OpenFlag, { t, format }: Pick<ProblemReader, 't' | 'format'>): Problem {
  const { id, kind, order, createdAt } = flag;
  const title = t(`operator.flag.${kind}`);
  const code = order?.code ?? '';
  const subjectPieces =
    order === undefined
      ? [{ text: t('operator.need_without_order') }]
      : [
          { text: `${t('operator.order')} ` },
          { text: code, path: `/operator/orders/${code}` },
          { text: ', ', isPersonal: true },
          { text: formatAccountName(order.buyer, t), isPersonal: true },
        ];
  return {
    severity: severityOfFlag(kind),
    title,
    subject: order?.code,
    pieces: [...subjectPieces, ...readEmphasis(describeMoney(flag, { t, format }))],
    since: createdAt,
    step: {
      path: `/operator/flags/${id}`,
      text: t('operator.act.flag.resolve'),
      label: t('operator.resolve_label', { flag: title, order: code }),
    },
  };
}

function describeMoney({ kind, order, money }: OpenFlag, { t, format }: Pick<ProblemReader, 't' | 'format'>): string {
  const values = {
    count: order?.days ?? 0,
    price: order === undefined ? '' : format.money(order.price, order.currency),
    amount: money === undefined ? '' : format.money(money.amount, money.currency),
    stated: money?.statedAmount === undefined ? '' : format.money(money.statedAmount, money.currency),
  };
  return t(`operator.flag_text.${chooseTextVariant(kind, money)}`, values);
}

/** If money is missing on one side or differs, it may be a payment or a refund. */
function chooseTextVariant(kind: OpenFlag['kind'], money: OpenFlag['money']): string {
  if (money === undefined) return 'without_amount';
  if (kind !== 'not_in_books' && kind !== 'not_at_provider') return kind;
  if (money.statedAmount !== undefined) return 'other_amount';
  return money.kind === 'refund' ? `${kind}_refund` : kind;
}

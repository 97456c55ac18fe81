import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import { findOpenFlag, isDecisionPromised, type OpenFlag } from '#core/business/payments/flags.ts';
import { plainPage, type PageSubject } from '#core/web/actions/plain-page.ts';
import { formatAccountName } from '#core/web/pages/account-name.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';

export const resolvePage: Page = plainPage(
  getCoreAction('flag.resolve'),
  { path: '/operator/flags', find: findFlagSubject },
  { path: '/operator/flags/{id}', title: 'operator.resolve_title' },
);

/** @throws PageError if the flag is unknown or already resolved */
async function findFlagSubject(request: PageRequest): Promise<PageSubject> {
  const { host, params, t } = request;
  const flag =
    (await findOpenFlag(host.database, params['id'] ?? '')) ??
    notFound('operator.flag_gone', { path: '/operator', label: 'operator.overview' });
  const { id, kind, order } = flag;
  const name = t(`operator.flag.${kind}`);
  return {
    id,
    name,
    path: '/operator',
    question:
      order === undefined
        ? t('operator.resolve_question_without_order', { flag: name })
        : t('operator.act.flag.resolve.question', { flag: name, order: order.code }),
    text: t(`operator.flag_help.${kind}`),
    facts: describeFlagFacts(flag, request),
    // Only a flag whose buyer was promised a decision about the money has an outcome; `false` omits the field.
    fields: { outcome: isDecisionPromised(kind) && { isRequired: true } },
  };
}

function describeFlagFacts({ subject, order, money, createdAt }: OpenFlag, { t, format }: PageRequest) {
  return [
    ...(order === undefined
      ? [{ name: t('operator.fact.reference'), value: subject }]
      : [
          { name: t('operator.order'), value: order.code, path: `/operator/orders/${order.code}` },
          { name: t('operator.fact.buyer'), value: formatAccountName(order.buyer, t) },
          { name: t('operator.fact.plan'), value: t('operator.days', { count: order.days }) },
          { name: t('operator.fact.price'), value: format.money(order.price, order.currency) },
        ]),
    ...(money === undefined
      ? []
      : [{ name: t('operator.fact.money'), value: format.money(money.amount, money.currency) }]),
    { name: t('operator.fact.since'), value: format.time(createdAt).text },
  ];
}

import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { findOpenFlag, type OpenFlag } from '#core/business/payments/open-flags.ts';
import { resolveFlag } from '#core/business/payments/refunds.ts';
import { actionPage } from '../action-page.ts';

/** `/operator/flags/{id}`: asks how a flag was resolved. */
export const resolvePage: Page = actionPage({
  path: '/operator/flags/{id}',
  title: 'operator.resolve_title',
  action: 'flag.resolve',
  needsNote: true,
  async ask(request) {
    const { t, format } = request;
    const flag = await readFlag(request);
    const { kind, orderCode, buyer, days, price, currency, money, createdAt } = flag;
    return {
      question: t('operator.resolve_question', { flag: t(`operator.flag.${kind}`), order: orderCode }),
      text: t(`operator.flag_help.${kind}`),
      facts: [
        { name: t('operator.fact.buyer'), value: buyer },
        { name: t('operator.fact.plan'), value: t('operator.days', { count: days }) },
        { name: t('operator.fact.price'), value: format.money(price, currency) },
        ...(money === undefined
          ? []
          : [{ name: t('operator.fact.money'), value: format.money(money.amount, money.currency) }]),
        { name: t('operator.fact.since'), value: format.time(createdAt).text },
      ],
      label: t('operator.resolve'),
      isDanger: false,
      back: '/operator',
      note: { label: t('operator.resolve_note'), hint: t('operator.resolve_hint') },
    };
  },
  subject: async (request) => (await readFlag(request)).orderId,
  async perform({ host, params }, { note }) {
    await resolveFlag(host.database, params['id'] ?? '', note);
    return '/operator';
  },
});

/** @throws PageError when another operator was faster */
async function readFlag({ host, params }: PageRequest): Promise<OpenFlag> {
  const flag = await findOpenFlag(host.database, params['id'] ?? '');
  if (flag === undefined)
    throw new PageError(404, 'operator.flag_gone', { action: { path: '/operator', label: 'operator.overview' } });
  return flag;
}

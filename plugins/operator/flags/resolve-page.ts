import { flagOutcomes } from '#core/business/payments/order-types.ts';
import { nameOfPerson } from '#core/web/pages/account-name.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { FieldErrors, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { findOpenFlag, isDecisionPromised, type OpenFlag } from '#core/business/payments/flags.ts';
import { type ActionField, actionPage } from '#core/web/actions/action-page.ts';
import { coreAction } from '#core/business/operator-actions/actions.ts';

/** `/operator/flags/{id}`: asks how a flag was resolved. */
export const resolvePage: Page = actionPage({
  path: '/operator/flags/{id}',
  title: 'operator.resolve_title',
  action: coreAction('flag.resolve'),
  async ask(request) {
    const { t, format } = request;
    const flag = await readFlag(request);
    const { kind, subject, order, money, createdAt } = flag;
    const name = t(`operator.flag.${kind}`);
    return {
      question:
        order === undefined
          ? t('operator.resolve_question_without_order', { flag: name })
          : t('operator.resolve_question', { flag: name, order: order.code }),
      text: t(`operator.flag_help.${kind}`),
      facts: [
        ...(order === undefined
          ? [{ name: t('operator.fact.reference'), value: subject }]
          : [
              { name: t('operator.order'), value: order.code, path: `/operator/orders/${order.code}` },
              { name: t('operator.fact.buyer'), value: nameOfPerson(order.buyer, t) },
              { name: t('operator.fact.plan'), value: t('operator.days', { count: order.days }) },
              { name: t('operator.fact.price'), value: format.money(order.price, order.currency) },
            ]),
        ...(money === undefined
          ? []
          : [{ name: t('operator.fact.money'), value: format.money(money.amount, money.currency) }]),
        { name: t('operator.fact.since'), value: format.time(createdAt).text },
      ],
      label: t('operator.resolve'),
      isDanger: false,
      back: '/operator',
      fields: [
        ...(isDecisionPromised(kind) ? [chooseOutcome(t)] : []),
        { name: 'note', label: t('operator.resolve_note'), hint: t('operator.resolve_hint') },
      ],
    };
  },
  async subject(request, { choice }) {
    const { id, kind } = await readFlag(request);
    // Its buyer was promised to read what becomes of the money.
    if (isDecisionPromised(kind) && choice === '') throw new FieldErrors({ choice: 'form.required' });
    return id;
  },
  next: () => '/operator',
});

function chooseOutcome(t: PageRequest['t']): ActionField {
  const options = flagOutcomes.map((value) => ({ value, label: t(`operator.flag_outcome.${value}`) }));
  return {
    name: 'choice',
    label: t('operator.flag_outcome'),
    hint: t('operator.flag_outcome_hint'),
    options: [{ value: '', label: t('operator.flag_outcome.choose') }, ...options],
  };
}

/** @throws PageError when another operator was faster */
async function readFlag({ host, params }: PageRequest): Promise<OpenFlag> {
  const flag = await findOpenFlag(host.database, params['id'] ?? '');
  if (flag === undefined)
    throw new PageError(404, 'operator.flag_gone', { action: { path: '/operator', label: 'operator.overview' } });
  return flag;
}

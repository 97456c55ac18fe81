import { nameOfPerson } from '#core/web/pages/account-name.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { Registry } from '#core/extension/registry.ts';
import { listOpenFlags, type OpenFlag, severityOf } from '#core/business/payments/flags.ts';
import { findDoubledAddresses } from '#core/business/accounts/doubled-addresses.ts';
import { hasCredited, isWaiting, listOutages } from '#core/business/outages/credit.ts';
import { type CustomerMail, countUndelivered, listMails } from '#core/business/mail/mails.ts';
import { outagesSection } from '#core/business/outages/section.ts';
import { readMachineNeeds } from './machine-needs.ts';
import { listUnfinished } from '#core/business/operator-actions/operator-actions.ts';
import { longestComparison } from '#core/business/operator-actions/order-actions.ts';
import { nameAccounts, readSubjects } from '../tell-action.ts';
import { type Need, readEmphasis } from './need.ts';
import type { OverviewSources } from '../sources.ts';

/** Flags on the overview; the others are in the list of orders. */
const listedFlags = 10;
/** Outages that are looked at. */
const listedOutages = 5;
/** Actions that were not finished, and the ms for which they are shown: the next operator of a weekend sees them. */
const unfinished = { listed: 5, shownFor: 3 * 86_400_000 };

/** Receipts and refund notices that are listed one by one. */
const listedMails = 5;

const kinds = ['bad', 'warn', 'info'];

/** All that needs the operator, the worst first, then models, machine and money, each the oldest first. */
export async function describeNeeds(
  gateway: Pick<Registry, 'healthChecks'>,
  request: PageRequest,
  sources: OverviewSources,
) {
  const [{ flags, total }, foreign, machine, outages, actions, doubled, mails] = await Promise.all([
    listOpenFlags(request.host.database, listedFlags, 'orders'),
    readForeignNeeds(request),
    readMachineNeeds(gateway, request, sources),
    readOutageNeeds(request),
    readUnfinishedNeeds(request),
    readDoubledNeeds(request),
    readMailNeeds(request),
  ]);
  const needs = [
    ...machine,
    ...outages,
    ...actions,
    ...doubled,
    ...mails,
    ...foreign,
    ...flags.map((flag) => describeNeed(flag, request)),
  ];
  return {
    needs: needs.toSorted((one, other) => rank(one) - rank(other)),
    needsTotal: describeTotal(
      total + machine.length + outages.length + actions.length + doubled.length + mails.length + foreign.length,
      request,
    ),
    moreNeeds: total > flags.length ? request.t('operator.needs_more', { count: total - flags.length }) : '',
  };
}

/** '' for none: that is said by itself. */
export function describeTotal(count: number, { t }: Pick<PageRequest, 't'>): string {
  return count === 0 ? '' : t('operator.needs_open', { count });
}

function rank({ status }: Need): number {
  return kinds.indexOf(status.kind);
}

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;

/** Outages whose time waits for an operator: all until some was given back, and later those that nothing confirms. */
async function readOutageNeeds({ host, t, format }: Reader): Promise<Need[]> {
  if (!host.section(outagesSection).credit) return [];
  const hasGiven = await hasCredited(host.database);
  const outages = await listOutages(host.database, listedOutages);
  const waiting = outages.filter((one) => isWaiting(one) && !(hasGiven && one.isConfirmed));
  return waiting.map(({ model, from, until }) => {
    const minutes = t('operator.credit_minutes', { count: Math.round((+until - +from) / 60_000) });
    return {
      status: { kind: 'warn', text: t('operator.need_outage') },
      pieces: readEmphasis(t('operator.need_outage_text', { model, minutes })),
      since: format.relative(until, new Date(host.now())),
      step: {
        path: '/operator/accounts/outage',
        text: t('operator.need_outage_step'),
        label: t('operator.need_outage_label', { model }),
      },
    };
  });
}

/** Money at providers that belongs to no order, as one entry: it may be that of another system with the same account. */
async function readForeignNeeds({ host, t, format }: Reader): Promise<Need[]> {
  const { flags, total } = await listOpenFlags(host.database, 1, 'no order');
  return flags.map(({ createdAt }) => ({
    status: { kind: 'warn', text: t('operator.flag.not_in_books') },
    pieces: readEmphasis(t('operator.need_foreign', { count: total })),
    since: format.relative(createdAt, new Date(host.now())),
    step: {
      path: '/operator/flags#foreign',
      text: t('operator.need_foreign_step'),
      label: t('operator.flags_foreign'),
    },
  }));
}

/** What was asked for when a process ended, and nobody knows whether it was done. */
async function readUnfinishedNeeds(request: Reader): Promise<Need[]> {
  const { host, t, format } = request;
  const span = { from: host.now() - unfinished.shownFor, until: host.now() - longestComparison };
  const actions = await listUnfinished(host.database, span, unfinished.listed);
  if (actions.length === 0) return [];
  const subjects = await readSubjects(request, actions, await nameAccounts(request, actions));
  return actions.map(({ action, operator, subject, createdAt }) => {
    const about = subjects.get(subject);
    const label = t('operator.need_unfinished_label', { action: t(`operator.did.${action}`) });
    return {
      status: { kind: 'warn', text: t('operator.done.unknown') },
      pieces: [
        ...(about === undefined ? [] : [about, { text: ', ' }]),
        { text: t(`operator.did.${action}`), isStrong: true },
        { text: ` ${t('operator.need_unfinished_text', { operator })}` },
      ],
      since: format.relative(createdAt, new Date(host.now())),
      step: { path: about?.path ?? '/operator/health', text: t('operator.need_unfinished_step'), label },
    };
  });
}

/** Accounts that share an address, which nothing but an operator can decide. */
async function readDoubledNeeds({ host, t }: Reader): Promise<Need[]> {
  const doubled = await findDoubledAddresses(host.database);
  return doubled.map(({ ids }) => ({
    status: { kind: 'warn', text: t('operator.need_doubled') },
    pieces: [
      { text: t('operator.need_doubled_text') },
      ...ids.flatMap((id, index) => [
        { text: index === 0 ? ' ' : ', ' },
        { text: id, path: `/operator/accounts/${id}` },
      ]),
    ],
    since: undefined,
    step: {
      path: `/operator/accounts/${ids.at(-1)}`,
      text: t('operator.need_doubled_step'),
      label: t('operator.need_doubled_label'),
    },
  }));
}

/** Mails that did not reach their customers: those about money one by one, all others as one entry. */
async function readMailNeeds(reader: Reader): Promise<Need[]> {
  const { host, t } = reader;
  const { money, others } = await countUndelivered(host.database);
  if (money + others === 0) return [];
  const mails = await listMails(host.database, { isUndelivered: true, isAboutMoney: true }, listedMails);
  const more = money + others - mails.length;
  const rest: Need = {
    status: { kind: 'warn', text: t('operator.need_mails') },
    pieces: readEmphasis(t('operator.need_mails_text', { count: more })),
    since: undefined,
    step: { path: '/operator/mails', text: t('operator.need_foreign_step'), label: t('operator.mails_undelivered') },
  };
  return [...mails.map((mail) => describeMailNeed(mail, reader)), ...(more > 0 ? [rest] : [])];
}

function describeMailNeed(mail: CustomerMail, { host, t, format }: Reader): Need {
  const { id, event, state, order = '', error, finishedAt } = mail;
  const name = t(`operator.mail.${event}`);
  return {
    status: { kind: state === 'failed' ? 'bad' : 'warn', text: t(`operator.mail_state.${state}`) },
    pieces: [
      { text: `${t('operator.order')} ` },
      { text: order, path: `/operator/orders/${order}` },
      { text: ', ' },
      { text: name, isStrong: true },
      ...(error === undefined ? [] : [{ text: `: ${t(error)}`, isEnglish: t(error) === error }]),
    ],
    since: finishedAt && format.relative(finishedAt, new Date(host.now())),
    step: {
      path: `/operator/mails/${id}/send-again`,
      text: t('operator.act.mail.send_again'),
      label: t('operator.need_mail_label', { mail: name, order }),
    },
  };
}

/** One flag, ready to be printed. */
export function describeNeed(flag: OpenFlag, { t, format, host }: Pick<Reader, 't' | 'format' | 'host'>): Need {
  const { id, kind, order, createdAt } = flag;
  const status = { kind: severityOf(kind), text: t(`operator.flag.${kind}`) };
  const code = order?.code ?? '';
  const about = [{ text: `${t('operator.order')} ` }, { text: code, path: `/operator/orders/${code}` }, { text: ', ' }];
  return {
    status,
    pieces: [
      ...(order === undefined ? [] : about),
      { text: order === undefined ? t('operator.need_without_order') : nameOfPerson(order.buyer, t) },
      ...readEmphasis(describeMoney(flag, { t, format })),
    ],
    since: format.relative(createdAt, new Date(host.now())),
    step: {
      path: `/operator/flags/${id}`,
      text: t('operator.resolve'),
      label: t('operator.resolve_label', { flag: status.text, order: code }),
    },
  };
}

function describeMoney({ kind, order, money }: OpenFlag, { t, format }: Pick<Reader, 't' | 'format'>) {
  const values = {
    count: order?.days ?? 0,
    price: order === undefined ? '' : format.money(order.price, order.currency),
    amount: money === undefined ? '' : format.money(money.amount, money.currency),
    stated: money?.statedAmount === undefined ? '' : format.money(money.statedAmount, money.currency),
  };
  return t(`operator.flag_text.${variantOf(kind, money)}`, values);
}

/** Money that only one side's books have, or each with another amount, may be a payment or a refund. */
function variantOf(kind: OpenFlag['kind'], money: OpenFlag['money']): string {
  if (money === undefined) return 'without_amount';
  if (kind !== 'not_in_books' && kind !== 'not_at_provider') return kind;
  if (money.statedAmount !== undefined) return 'other_amount';
  return money.kind === 'refund' ? `${kind}_refund` : kind;
}

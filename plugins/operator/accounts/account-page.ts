import type { Registry } from '#core/extension/registry.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import { AccountError } from '#core/business/accounts/account-error.ts';
import type { AccountState } from '#core/business/accounts/account-list.ts';
import { type AccountRecord, activePeriod, type PeriodRecord } from '#core/business/accounts/account-record.ts';
import { uuid } from '#core/platform/database/database.ts';
import { findAccount } from '#core/business/accounts/accounts.ts';
import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { recordedLabelIn } from '#core/business/accounts/plans.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { listMails } from '#core/business/mail/mails.ts';
import { nameOfAccount, nameOfPerson } from '#core/web/pages/account-name.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { sessionsOf } from '#core/web/sessions/sign-in.ts';
import { listOrders } from '#core/business/payments/order.ts';
import {
  countUsage,
  readUsage,
  startOfHours,
  type TimedUsage,
  type UsageCounts,
  type UsageKeys,
} from '#core/gateway/records/usage.ts';
import { signInName } from '#core/business/operator-actions/telling.ts';
import { nameAccounts } from '#core/web/actions/tell-action.ts';
import { actionTable } from '#core/web/actions/action-table.ts';
import { ledgerTable, mailTable } from '../shared-tables.ts';
import { type TableSection, withRows } from '#core/web/pages/table.ts';
import { describeDone } from '#core/web/actions/action-page.ts';
import { defineView, fieldTable } from '#core/web/resources/field.ts';
import { ordersOfOne } from '#core/web/resources/orders.ts';
import { accountLinks } from './account-links.ts';
import { describeAccountTiles } from './account-tiles.ts';
import { accountStateCell } from './list-page.ts';
import { describeStory } from './story.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';

/** What is listed of an account, the newest. */
const listed = { orders: 20, actions: 50, models: 8, mails: 20 };
/** Hours of usage by model, and those whose times to the first token are read: for each hour that takes twenty times as long. */
const usageHours = { counts: 30 * 24, firstToken: 2 };

/** `/operator/accounts/{id}`: an account with its key hint, periods, usage and orders. */
export const accountPage = (gateway: Pick<Registry, 'costsReader' | 'storySources'>): Page => ({
  path: '/operator/accounts/{id}',
  role: 'operator',
  title: 'operator.account_title',
  template: 'operator/account.eta',
  styles: ['operator.css', 'tables.css', 'operator-account.css'],
  async show(request) {
    const { host, t, format, language, query } = request;
    const { database } = host;
    const record = await requireAccount(request);
    const { id } = record;
    const since = (hours: number) => ({ accountId: id, since: startOfHours(host.now(), hours) });
    const [
      identities,
      sessions,
      ledger,
      { orders },
      usage,
      timed,
      hours,
      actions,
      others,
      blockedReason,
      costs,
      mails,
    ] = await Promise.all([
      listIdentities(database, id),
      sessionsOf(host).list(id),
      listLedger(database, id),
      listOrders(database, { accountId: id }, undefined, listed.orders),
      countUsage(database, since(usageHours.counts), ['model']),
      readUsage(database, since(usageHours.firstToken), ['model']),
      countUsage(database, since(usageHours.counts), ['hour']),
      listActions(database, { subject: id, limit: listed.actions }),
      Promise.all(gateway.storySources.map((read) => read(request, id))),
      readBlockedReason(request, id),
      gateway.costsReader?.beside(request, '30d'),
      listMails(database, { accountId: id }, listed.mails),
    ]);
    const names = await nameAccounts(request, actions);
    const tiles = await describeAccountTiles(record, usage, costs?.ofAccount(id), request);
    const { text, kind } = accountStateCell(stateOf(record), t);
    const byRequests = usage.toSorted((one, other) => other.requests - one.requests);
    return {
      account: nameOfAccount(record, t),
      heading: record.name === '' ? nameOfAccount(record, t) : nameOfPerson(record.name, t),
      about: aboutOf(record, identities, request),
      done: describeDone(request),
      status: { kind: kind ?? '', text },
      tiles,
      story: describeStory(
        { record, orders, ledger, actions, others: others.flat(), sessions, hours },
        { t, format, host, language, query, names },
      ),
      models: describeModels(byRequests, request),
      requestsPath: `/operator/requests?${new URLSearchParams({ account: id, time: '30d' }).toString()}`,
      notes: actions
        .filter(({ action, outcome }) => action === 'account.note' && outcome === 'done')
        .map(({ note, operator, createdAt }) => ({
          note,
          operator,
          time: format.dayTime(createdAt, new Date(host.now())),
        })),
      notePath: record.deletedAt === undefined ? `/operator/accounts/${id}/note` : undefined,
      facts: factsOf(record, blockedReason, { identities, sessions: sessions.length }, request),
      actions: accountLinks(record, identities.length > 0, request),
      sections: withRows([
        usageTable(byRequests, timed, costs && ((model) => costs.ofModel(id, model)), request),
        fieldTable(request, 'orders', 'operator.orders', orders, ordersOfOne),
        ledgerTable(ledger, request),
        mailTable(mails, request),
        actionTable(actions, request, names),
      ]),
    };
  },
});

/** @throws PageError 404 */
export async function requireAccount({ host, params }: PageRequest): Promise<AccountRecord> {
  const id = params['id'] ?? '';
  try {
    if (uuid.test(id)) return await findAccount(host.database, id);
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
  }
  throw new PageError(404, 'operator.account_unknown', {
    action: { path: '/operator/accounts', label: 'operator.accounts' },
  });
}

async function readBlockedReason({ host }: PageRequest, id: string): Promise<string> {
  const [row] = await host.database.query<{ reason: string | null }>(
    'select blocked_reason as reason from account where id = ?',
    [id],
  );
  return row?.reason ?? '';
}

function stateOf({ deletedAt, blockedAt, periods, readAt }: AccountRecord): AccountState {
  if (deletedAt !== undefined) return 'deleted';
  if (blockedAt !== undefined) return 'blocked';
  return (periods.at(-1)?.endsAt.getTime() ?? 0) > readAt ? 'active' : 'inactive';
}

type SignIn = { readonly provider: string; readonly email: string | undefined; readonly name: string };

/** The line below the name: the address, where it signs in, since when, and the key. */
function aboutOf(
  { name, email, createdAt, key }: AccountRecord,
  signIns: readonly SignIn[],
  { t, format }: PageRequest,
): { readonly text: string; readonly key: string } {
  const providers = new Set(signIns.map(({ provider }) => provider));
  return {
    text: [
      name === '' ? undefined : email,
      ...[...providers].map((provider) => signInName(provider, t)),
      t('operator.customer_since', { day: format.day(createdAt).text }),
    ]
      .filter((part) => part !== undefined)
      .join(' · '),
    key: key?.hint ?? '',
  };
}

/** The most used models, each with its part of the most used one's requests. */
function describeModels(byRequests: readonly OfModel<UsageCounts>[], { t, format }: PageRequest) {
  const most = byRequests[0]?.requests ?? 1;
  return byRequests.slice(0, listed.models).map(({ model, requests }) => ({
    name: model ?? t('operator.no_model_named'),
    requests: format.number(requests),
    share: Math.max(1, Math.round((requests / most) * 1_000)),
  }));
}

function factsOf(
  record: AccountRecord,
  blockedReason: string,
  signIns: {
    readonly identities: readonly SignIn[];
    readonly sessions: number;
  },
  request: PageRequest,
) {
  const { t, format, host } = request;
  const { id, name, createdAt, blockedAt, key, requestCount, periods, readAt } = record;
  const active = activePeriod(record, readAt);
  const end = periods.at(-1)?.endsAt;
  const plan =
    active === undefined
      ? t(end === undefined ? 'operator.plan_none' : 'operator.plan_over')
      : describePlan(active, request);
  const fact = (label: string, value: string) => (value === '' ? [] : [{ name: t(label), value }]);
  return [
    { name: t('operator.id'), value: id, isCode: true },
    ...fact('operator.name', nameOfPerson(name, t)),
    ...fact('operator.created', format.time(createdAt).text),
    ...fact('operator.blocked_since', blockedAt === undefined ? '' : format.time(blockedAt).text),
    ...fact('operator.blocked_reason', blockedReason),
    ...(key === undefined ? [] : [{ name: t('operator.key'), value: key.hint, isCode: true }]),
    ...fact('operator.limits', key?.limits === undefined ? '' : JSON.stringify(key.limits)),
    ...fact('operator.fact.plan', plan),
    ...fact('operator.requests_ever', format.number(requestCount)),
    ...fact(
      'operator.signs_in',
      signIns.identities
        .map(({ provider, email, name: who }) => `${signInName(provider, t)} (${email ?? who})`)
        .join(', '),
    ),
    ...fact('operator.sessions', format.number(signIns.sessions)),
    ...fact('operator.role', isOperatorAddress(host, record.email) ? t('operator.role_operator') : ''),
  ];
}

/** Its days, and its label where it has one: `1 day, for trying out`. */
function describePlan({ days, label, unnamedDays }: PeriodRecord, { t, language, host }: PageRequest): string {
  if (unnamedDays !== undefined) return t('operator.days', { count: unnamedDays });
  const name = recordedLabelIn(language, label, host);
  return days === undefined ? name : `${t('operator.days', { count: days })}, ${name}`;
}

type OfModel<Usage> = Usage & Pick<UsageKeys, 'model'>;

/**
 * Requests of an account by model, most used first.
 *
 * @param timed those of the last hours, with times to the first token
 * @param costOf what they cost by model; undefined where that is not known
 */
function usageTable(
  byRequests: readonly OfModel<UsageCounts>[],
  timed: readonly OfModel<TimedUsage>[],
  costOf: ((model: string | null) => string) | undefined,
  reader: PageRequest,
): TableSection {
  const medians = new Map(timed.map(({ model, firstContent }) => [model, quantile(firstContent, 0.5)]));
  const { page } = defineView<OfModel<UsageCounts>>()({
    model: { type: 'text', fit: 'id', at: 'title', cell: ({ model }, { t }) => model ?? t('operator.no_model_named') },
    requests: { type: 'count', at: 'end', of: 'requests' },
    errors: {
      type: 'count',
      at: 'note',
      isNamed: true,
      cell: ({ requests, errors }, { format }) => (requests === 0 ? '' : format.percent(errors / requests)),
    },
    tokens_in: { type: 'count', at: 'hide', of: 'inputTokens' },
    tokens_out: { type: 'count', at: 'hide', of: 'outputTokens' },
    first_token_recent: { type: 'duration', at: 'hide', value: ({ model }) => medians.get(model) },
    cost: { type: 'count', at: 'note-end', cell: ({ model }) => costOf?.(model ?? null) },
  });
  const fields = page.filter(({ name }) => costOf !== undefined || name !== 'cost');
  return fieldTable(reader, 'usage', 'operator.usage', byRequests, fields);
}

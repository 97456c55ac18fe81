import type { AccountState } from '#core/business/accounts/account-list.ts';
import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import { listMails } from '#core/business/mail/mails.ts';
import { signInName } from '#core/business/operator-actions/member-describers.ts';
import { listOrders } from '#core/business/payments/order.ts';
import type { Registry } from '#core/extension/registry.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import {
  countUsage,
  readUsage,
  startOfHours,
  type TimedUsage,
  type UsageCounts,
  type UsageKeys,
} from '#core/gateway/records/usage.ts';
import { formatAccountLabel, formatAccountName } from '#core/web/pages/account-name.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { type TableSection, omitEmptySections } from '#core/web/pages/table.ts';
import {
  type AccountDetails,
  accountFacts,
  accountTables,
  readAccountDetails,
} from '#core/web/resources/account-details.ts';
import { accountKinds } from '#core/web/resources/accounts.ts';
import { readSubjectNames } from '#core/web/resources/describe-action.ts';
import { defineView, describeEntryFacts, describeEntryTables, fieldTable } from '#core/web/resources/field.ts';
import { subjectMailFields } from '#core/web/resources/mails.ts';
import { accountOrderFields } from '#core/web/resources/orders.ts';
import { joinParts } from '#core/web/texts/formatter.ts';
import { listAccountLinks } from './account-links.ts';
import { describeAccountTiles } from './account-tiles.ts';
import { describeTimeline } from './timeline.ts';

const maxEntries = { orders: 20, models: 8, mails: 20 };
const usageHours = { counts: 30 * 24, firstToken: 2 }; // reading times to the first token takes twenty times as long

const commandOnlyFacts = new Set(['language', 'deleted']);

export const createAccountPage = (gateway: Pick<Registry, 'costsReader' | 'storySources'>): Page => ({
  path: '/operator/accounts/{id}',
  role: 'operator',
  title: 'operator.account_title',
  template: 'operator/account.eta',
  styles: ['operator.css', 'tables.css', 'operator/account.css'],
  async show(request) {
    const { host, t, format, language, query } = request;
    const { database } = host;
    const record = await requireAccount(request);
    const { id } = record;
    const usageSince = (hours: number) => ({ accountId: id, since: startOfHours(host.now(), hours) });
    const [details, { orders }, recentUsage, hours, pluginEntries, costs, mails] = await Promise.all([
      readAccountDetails(host, record),
      listOrders(database, { accountId: id }, undefined, maxEntries.orders),
      readUsage(database, usageSince(usageHours.firstToken), ['model']),
      countUsage(database, usageSince(usageHours.counts), ['hour']),
      Promise.all(gateway.storySources.map((read) => read(request, id))),
      gateway.costsReader?.pageCosts(request, '30d'),
      listMails(database, { accountId: id }, maxEntries.mails),
    ]);
    const { identities, usage, actions } = details;
    const reader = { t, format, host, language, names: await readSubjectNames(request, actions) };
    const tiles = await describeAccountTiles(record, usage, costs?.ofAccount(id), request);
    const state = determineState(record);
    const sortedUsage = usage.toSorted((a, b) => b.requests - a.requests);
    return {
      account: formatAccountLabel(record, t),
      heading: record.name === '' ? formatAccountLabel(record, t) : formatAccountName(record.name, t),
      about: describeSubtitle(details, request),
      key: record.key?.hint ?? '',
      status: { kind: accountKinds[state] ?? '', text: t(`operator.account_state.${state}`) },
      tiles,
      story: describeTimeline({ ...details, orders, pluginEntries: pluginEntries.flat(), hours }, { ...reader, query }),
      models: describeModels(sortedUsage, request),
      requestsPath: `/operator/requests?${new URLSearchParams({ account: id, time: '30d' }).toString()}`,
      notes: actions
        .filter(({ action, outcome }) => action === 'account.note' && outcome === 'done')
        .map(({ note, operator, createdAt }) => ({
          note,
          operator,
          time: format.dayTime(createdAt, new Date(host.now())),
        })),
      notePath: record.deletedAt === undefined ? `/operator/accounts/${id}/note` : undefined,
      facts: describeEntryFacts(
        request,
        details,
        accountFacts.text.filter(({ name }) => !commandOnlyFacts.has(name)),
      ),
      actions: listAccountLinks(record, identities.length > 0, request),
      sections: omitEmptySections([
        describeUsageTable(sortedUsage, recentUsage, costs && ((model) => costs.ofModel(id, model)), request),
        fieldTable(request, 'orders', 'operator.orders', orders, accountOrderFields, maxEntries.orders),
        ...describeEntryTables(reader, accountTables(details)),
        fieldTable(request, 'mails', 'operator.mails', mails, subjectMailFields, maxEntries.mails),
      ]),
    };
  },
});

/** @throws PageError 404 */
export async function requireAccount({ host, params }: PageRequest): Promise<AccountRecord> {
  const [account] = await readAccounts(host.database, 'id', [params['id'] ?? '']);
  return account ?? notFound('operator.account_unknown', { path: '/operator/accounts', label: 'operator.accounts' });
}

function determineState({ deletedAt, pausedAt, blockedAt, periods, readAt }: AccountRecord): AccountState {
  if (deletedAt !== undefined) return 'deleted';
  if (pausedAt !== undefined) return 'paused';
  if (blockedAt !== undefined) return 'blocked';
  return (periods.at(-1)?.endsAt.getTime() ?? 0) > readAt ? 'active' : 'inactive';
}

function describeSubtitle(
  { record: { name, email, createdAt }, identities }: AccountDetails,
  { t, format }: PageRequest,
): string {
  const providers = new Set(identities.map(({ provider }) => signInName(provider, t)));
  const since = t('operator.customer_since', { day: format.day(createdAt).text });
  return joinParts(name === '' ? undefined : email, ...providers, since);
}

function describeModels(sortedUsage: readonly OfModel<UsageCounts>[], { t, format }: PageRequest) {
  const maxRequests = sortedUsage[0]?.requests ?? 1;
  return sortedUsage.slice(0, maxEntries.models).map(({ model, requests }) => ({
    name: model ?? t('operator.no_model_named'),
    requests: format.number(requests),
    // Per mille of the top model's requests.
    share: Math.max(1, Math.round((requests / maxRequests) * 1_000)),
  }));
}

type OfModel<Usage> = Usage & Pick<UsageKeys, 'model'>;

function describeUsageTable(
  sortedUsage: readonly OfModel<UsageCounts>[],
  recentUsage: readonly OfModel<TimedUsage>[],
  costOf: ((model: string | null) => string) | undefined,
  reader: PageRequest,
): TableSection {
  const medians = new Map(recentUsage.map(({ model, firstContent }) => [model, quantile(firstContent, 0.5)]));
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
  return fieldTable(reader, 'usage', 'operator.usage', sortedUsage, fields);
}

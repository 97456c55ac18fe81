import { nameWithAddress } from '#core/business/accounts/account-names.ts';
import { type AccountRecord, findActivePeriod } from '#core/business/accounts/account-record.ts';
import type { Account } from '#core/business/accounts/entities.ts';
import { type IdentityRecord, listIdentities } from '#core/business/accounts/identity-links.ts';
import { type LedgerEntry, listLedger } from '#core/business/accounts/ledger-entries.ts';
import { determinePass, formatPass } from '#core/business/accounts/pass-state.ts';
import { translateRecordedLabel } from '#core/business/accounts/plans.ts';
import { signInName } from '#core/business/operator-actions/member-describers.ts';
import { listActions, type RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { countUsage, startOfHours, type UsageCounts, type UsageKeys } from '#core/gateway/records/usage.ts';
import { type Row, toRecord } from '#core/platform/database/rows.ts';
import { formatAccountName } from '../pages/account-name.ts';
import type { SessionRecord } from '../sessions/sessions.ts';
import { sessionsOf } from '../sessions/sign-in.ts';
import { subjectActionsView } from './action-table.ts';
import { defineView, type EntryTable, type FieldReader, type TextReader } from './field.ts';
import { ledgerView } from './ledger.ts';

const maxActions = 100;
const usageHours = 30 * 24;

export interface AccountDetails {
  readonly record: AccountRecord;
  readonly blockedReason: string | undefined;
  readonly language: string | undefined;
  readonly identities: readonly IdentityRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly ledger: readonly LedgerEntry[];
  readonly usage: readonly (UsageCounts & Pick<UsageKeys, 'model'>)[]; // in the last 30 days, by model
  readonly actions: readonly RecordedAction[]; // including notes; newest first
}

export async function readAccountDetails(host: Host, record: AccountRecord): Promise<AccountDetails> {
  const { database } = host;
  const { id } = record;
  const [[row], identities, sessions, ledger, usage, actions] = await Promise.all([
    database.query<Row<typeof Account, 'language' | 'blocked_reason'>>(
      'select language, blocked_reason from account where id = ?',
      [id],
    ),
    listIdentities(database, id),
    sessionsOf(host).list(id),
    listLedger(database, id),
    countUsage(database, { accountId: id, since: startOfHours(host.now(), usageHours) }, ['model']),
    listActions(database, { subject: id, limit: maxActions }),
  ]);
  const { blockedReason, language } = row === undefined ? {} : toRecord(row);
  return { record, blockedReason, language, identities, sessions, ledger, usage, actions };
}

export const accountFacts = defineView<AccountDetails>()({
  account: { type: 'id', label: 'operator.id', value: ({ record }) => record.id },
  name: {
    type: 'text',
    value: ({ record }) => nameWithAddress(record.name, record.email),
    cell: ({ record }, { t }) => formatAccountName(record.name, t),
  },
  language: { type: 'text', of: 'language' },
  created: { type: 'time', value: ({ record }) => record.createdAt },
  paused: { type: 'time', label: 'operator.paused_since', value: ({ record }) => record.pausedAt },
  blocked: { type: 'time', label: 'operator.blocked_since', value: ({ record }) => getBlockedAt(record) },
  blocked_reason: {
    type: 'text',
    of: 'blockedReason',
    cell: ({ record: { pausedAt }, blockedReason }, { t }) =>
      pausedAt === undefined ? blockedReason : t('operator.paused_by_owner'),
  },
  deleted: { type: 'time', value: ({ record }) => record.deletedAt },
  key: { type: 'id', value: ({ record }) => record.key?.hint, print: ({ record }) => record.key?.hint ?? 'none' },
  limits: { type: 'text', value: ({ record: { key } }) => key?.limits && JSON.stringify(key.limits) },
  plan: { type: 'text', label: 'operator.fact.plan', print: formatPlan, cell: describePlan },
  requests: { type: 'count', label: 'operator.requests_ever', value: ({ record }) => record.requestCount },
  signs_in: {
    type: 'text',
    value: ({ identities }) =>
      identities.map(({ provider, email, name }) => `${provider} (${email ?? name})`).join(', '),
    cell: ({ identities }, { t }) =>
      identities.map(({ provider, email, name }) => `${signInName(provider, t)} (${email ?? name})`).join(', '),
  },
  sessions: { type: 'count', value: ({ sessions }) => sessions.length },
  role: {
    type: 'text',
    cell: ({ record }, { t, host }) => (isOperatorAddress(host, record.email) ? t('operator.role_operator') : ''),
  },
});

export const accountTables = ({ ledger, actions }: AccountDetails): EntryTable[] => [
  { name: 'ledger', entries: ledger, view: ledgerView },
  { name: 'actions', entries: actions, maxEntries: maxActions, view: subjectActionsView },
];

/** Summarizes an account for the JSON output of commands and the API. */
export function summarizeAccount({ record, blockedReason, language }: AccountDetails) {
  const { id, name, email, createdAt, blockedAt, pausedAt, deletedAt, key, requestCount, readAt } = record;
  return {
    id,
    name,
    email,
    language,
    createdAt,
    blockedAt,
    blockedReason,
    pausedAt,
    deletedAt,
    hint: key?.hint,
    limits: key?.limits,
    requestCount,
    active: findActivePeriod(record, readAt) !== undefined,
    endsAt: getPaidUntil(record),
  };
}

/** Describes an account in full, for the JSON output of commands and the API. */
export function describeAccountDetails(details: AccountDetails) {
  const { identities, sessions, ledger, usage, actions } = details;
  return {
    ...summarizeAccount(details),
    identities: identities.map(({ subject: _subject, ...entry }) => entry),
    sessions,
    // `inForce` is the deprecated name of `isInForce`; remove in 0.7.
    ledger: ledger.map((entry) => ({ ...entry, inForce: entry.isInForce })),
    usage,
    actions,
  };
}

function getBlockedAt({ blockedAt, pausedAt }: AccountRecord): Date | undefined {
  return pausedAt === undefined ? blockedAt : undefined;
}

function getPaidUntil({ periods }: AccountRecord): Date | undefined {
  return periods.at(-1)?.endsAt;
}

function formatPlan({ record }: AccountDetails, { time }: TextReader): string {
  return formatPass(determinePass(record, record.readAt), time);
}

function describePlan({ record }: AccountDetails, { t, language, host, format }: FieldReader): string {
  const { kind, days, label, unnamedDays, startsAt } = determinePass(record, record.readAt);
  if (kind === 'none') return t('operator.plan_none');
  if (kind === 'ended') return t('operator.plan_over');
  if (kind === 'starts_later')
    return t('operator.plan_later', { time: format.time(startsAt ?? record.createdAt).text });
  if (unnamedDays !== undefined) return t('operator.days', { count: unnamedDays });
  const name = translateRecordedLabel(language, label ?? '', host);
  return days === undefined ? name : `${t('operator.days', { count: days })}, ${name}`;
}

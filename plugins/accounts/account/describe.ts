import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { activePeriod } from '#core/business/accounts/account-record.ts';
import type { AccountSummary } from '#core/business/accounts/account-list.ts';
import type { IdentityRecord } from '#core/business/accounts/identity-links.ts';
import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { formatActions } from '#core/extension/commands/action-table.ts';
import { formatFields, formatSection, formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { SessionRecord } from '#core/web/sessions/sessions.ts';

/** All that `daypass account show` prints. */
export interface AccountDetails {
  readonly record: AccountRecord;
  readonly blockedReason: string | undefined;
  readonly language: string | undefined;
  readonly identities: readonly IdentityRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly ledger: readonly LedgerEntry[];
  /** Of operators, notes included, the newest first. */
  readonly actions: readonly RecordedAction[];
}

/** The output of `--json`. */
export function toJson({ record, blockedReason, language, identities, sessions, ...more }: AccountDetails): object {
  const active = activePeriod(record, record.readAt);
  return {
    account: record.id,
    name: record.name,
    email: record.email ?? null,
    language: language ?? null,
    created_at: record.createdAt,
    blocked_at: record.blockedAt ?? null,
    blocked_reason: blockedReason ?? null,
    deleted_at: record.deletedAt ?? null,
    hint: record.key?.hint ?? null,
    limits: record.key?.limits ?? null,
    request_count: record.requestCount,
    active: active !== undefined,
    ends_at: endOf(record) ?? null,
    identities: identities.map(({ provider, email, name, lastUsedAt }) => ({
      provider,
      email: email ?? null,
      name,
      last_used_at: lastUsedAt,
    })),
    sessions: sessions.map(({ id, userAgent, createdAt, lastUsedAt }) => ({
      id,
      user_agent: userAgent,
      created_at: createdAt,
      last_used_at: lastUsedAt,
    })),
    ledger: more.ledger.map(entryToJson),
    actions: more.actions.map(({ createdAt, action, operator, outcome, error, note }) => ({
      created_at: createdAt,
      action,
      operator,
      outcome,
      error: error ?? null,
      note: note ?? null,
    })),
  };
}

function entryToJson(entry: LedgerEntry): object {
  return {
    id: entry.id,
    reason: entry.reason,
    days: entry.days,
    label: entry.label ?? null,
    starts_at: entry.startsAt,
    ends_at: entry.endsAt,
    in_force: entry.isInForce,
    replaces: entry.replaces ?? null,
    order_id: entry.orderId ?? null,
    note: entry.note ?? null,
    created_at: entry.createdAt,
  };
}

/** The same for people. */
export function describeAccount({ record, blockedReason, ...more }: AccountDetails, timeZone: string): string[] {
  const time = (value: Date | undefined) => formatTime(value, timeZone);
  const { name, email, blockedAt, deletedAt, key } = record;
  return [
    ...formatFields([
      ['account', record.id],
      ['name', email === undefined ? name : `${name} <${email}>`],
      ['language', more.language],
      ['created', time(record.createdAt)],
      ['blocked', blockedAt === undefined ? undefined : `${time(blockedAt)}: ${blockedReason ?? ''}`],
      ['deleted', deletedAt === undefined ? undefined : time(deletedAt)],
      ['key', key?.hint ?? 'none'],
      ['limits', key?.limits === undefined ? undefined : JSON.stringify(key.limits)],
      ['plan', describePlan(record, timeZone)],
      ['requests', String(record.requestCount)],
      ['signs in', more.identities.map(describeIdentity).join(', ') || undefined],
      ['sessions', String(more.sessions.length)],
      ['times', timeZone],
    ]),
    ...formatSection('ledger', describeLedger(more.ledger, timeZone)),
    ...formatSection('actions', formatActions(more.actions, timeZone)),
  ];
}

/** The end of the last period; undefined when there never was one. */
function endOf({ periods }: AccountRecord): Date | undefined {
  return periods.at(-1)?.endsAt;
}

function describePlan(record: AccountRecord, timeZone: string): string {
  const active = activePeriod(record, record.readAt);
  const end = endOf(record);
  if (active !== undefined) return `${active.label}, active until ${formatTime(end, timeZone)}`;
  if (end === undefined) return 'none yet';
  return `${end.getTime() > record.readAt ? 'starts later, ends' : 'ended'} at ${formatTime(end, timeZone)}`;
}

function describeIdentity({ provider, email, name }: IdentityRecord): string {
  return `${provider} (${email ?? name})`;
}

function describeLedger(entries: readonly LedgerEntry[], timeZone: string): string[] {
  if (entries.length === 0) return [];
  return formatTable(
    ['written', 'reason', 'days', 'from', 'until', 'label', 'note', ''],
    entries.map((entry) => [
      formatTime(entry.createdAt, timeZone),
      entry.reason,
      String(entry.days),
      formatTime(entry.startsAt, timeZone),
      formatTime(entry.endsAt, timeZone),
      entry.label ?? '',
      entry.note ?? '',
      entry.isInForce ? '' : 'replaced',
    ]),
  );
}

export function describeList(accounts: readonly AccountSummary[], timeZone: string): string[] {
  if (accounts.length === 0) return ['No account found.'];
  return formatTable(
    ['account', 'name', 'e-mail', 'key', 'state', `plan until (${timeZone})`, 'requests'],
    accounts.map(({ id, name, email, hint, state, endsAt, requestCount }) => [
      id,
      name,
      email ?? '',
      hint ?? '',
      state,
      formatTime(endsAt, timeZone),
      String(requestCount),
    ]),
  );
}

export function summaryToJson({ endsAt, createdAt, requestCount, email, hint, ...rest }: AccountSummary): object {
  return {
    account: rest.id,
    name: rest.name,
    email: email ?? null,
    hint: hint ?? null,
    state: rest.state,
    ends_at: endsAt ?? null,
    request_count: requestCount,
    created_at: createdAt,
  };
}

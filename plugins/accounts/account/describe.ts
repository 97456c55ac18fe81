import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { activePeriod } from '#core/business/accounts/account-record.ts';
import type { IdentityRecord } from '#core/business/accounts/identity-links.ts';
import { writeMembers } from '#core/platform/snake-case.ts';
import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { formatActions, formatEntries } from '#core/extension/commands/field-text.ts';
import { formatFields, formatSection, formatTime } from '#core/extension/commands/table-text.ts';
import { ledger } from '#core/web/resources/ledger.ts';
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
    ...writeMembers(record, 'name', 'email'),
    language: language ?? null,
    ...writeMembers(record, 'createdAt', 'blockedAt'),
    blocked_reason: blockedReason ?? null,
    ...writeMembers(record, 'deletedAt'),
    hint: record.key?.hint ?? null,
    limits: record.key?.limits ?? null,
    request_count: record.requestCount,
    active: active !== undefined,
    ends_at: endOf(record) ?? null,
    identities: identities.map((one) => writeMembers(one, 'provider', 'email', 'name', 'lastUsedAt')),
    sessions: sessions.map((one) => writeMembers(one, 'id', 'userAgent', 'createdAt', 'lastUsedAt')),
    ledger: more.ledger.map((one) => ({
      ...writeMembers(one, 'id', 'reason', 'days', 'label', 'startsAt', 'endsAt'),
      in_force: one.isInForce,
      ...writeMembers(one, 'replaces', 'orderId', 'note', 'createdAt'),
    })),
    actions: more.actions.map((one) =>
      writeMembers(one, 'createdAt', 'action', 'operator', 'outcome', 'error', 'note'),
    ),
  };
}

/** The same for people. */
export function describeAccount({ record, blockedReason, ...more }: AccountDetails, timeZone: string): string[] {
  const time = (value: Date | undefined) => formatTime(value, timeZone);
  const text = { timeZone, now: record.readAt };
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
    ...formatSection('ledger', formatEntries(more.ledger, ledger.text, text)),
    ...formatActions(more.actions, text),
  ];
}

/** End of the last period; undefined without any. */
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

import { activePeriod } from '#core/business/accounts/account-record.ts';
import { formatActions, formatEntries, formatEntry } from '#core/extension/commands/field-text.ts';
import { formatSection } from '#core/extension/commands/table-text.ts';
import { writeMembers } from '#core/platform/snake-case.ts';
import type { AccountDetails } from '#core/web/resources/account-details.ts';
import { accountFacts, endOf } from '#core/web/resources/account-facts.ts';
import { ledger } from '#core/web/resources/ledger.ts';

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
export function describeAccount(details: AccountDetails, timeZone: string): string[] {
  const text = { timeZone, now: details.record.readAt };
  return [
    ...formatEntry(details, accountFacts.text, text, [['times', timeZone]]),
    ...formatSection('ledger', formatEntries(details.ledger, ledger.text, text)),
    ...formatActions(details.actions, text),
  ];
}

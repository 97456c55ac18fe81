import { type AccountRecord, activePeriod } from '#core/accounts/account-record.ts';
import type { RateLimits } from '#core/facts.ts';
import { printable } from '#core/logger.ts';

/** What `--json` prints. */
export interface ShownAccount {
  readonly account: string;
  readonly name: string;
  readonly email: string | null;
  readonly created_at: string;
  /** The key itself; only from the command that made it. */
  readonly key?: string;
  readonly hint: string | null;
  readonly rotated_at: string | null;
  readonly request_count: number;
  readonly active: boolean;
  readonly periods: readonly { readonly starts_at: string; readonly ends_at: string; readonly label: string | null }[];
  /** What the key has instead of the configured limits; null when it has nothing of its own. */
  readonly limits: RateLimits | null;
}

export interface LimitOptions {
  readonly limit?: number;
  readonly period?: number;
  readonly burst?: number;
  readonly concurrent?: number;
}

/** The limits that were named; undefined when none was. */
export function limitsFrom({ limit, period, burst, concurrent }: LimitOptions): RateLimits | undefined {
  const named = Object.entries({ limit, period, burst, concurrent }).filter(([, value]) => value !== undefined);
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

export function showAccount(record: AccountRecord): ShownAccount {
  return {
    account: record.id,
    name: record.name,
    email: record.email ?? null,
    created_at: record.createdAt.toISOString(),
    hint: record.key?.hint ?? null,
    rotated_at: record.key?.rotatedAt?.toISOString() ?? null,
    request_count: record.requestCount,
    active: activePeriod(record, record.readAt) !== undefined,
    periods: record.periods.map(({ startsAt, endsAt, label }) => ({
      starts_at: startsAt.toISOString(),
      ends_at: endsAt.toISOString(),
      label: label ?? null,
    })),
    limits: record.key?.limits ?? null,
  };
}

/** The same for people: a line a field. */
export function showFields(account: ShownAccount): string[] {
  const { key, name, email } = account;
  const fields: [string, string | undefined][] = [
    ['key', key === undefined ? (account.hint ?? 'none') : `${key}   (shown only now)`],
    ['account', account.account],
    ['name', email === null ? name : `${name} <${email}>`],
    ['created', account.created_at],
    ['rotated', account.rotated_at ?? undefined],
    ['plan', describePlan(account)],
    ['limits', describeLimits(account.limits)],
    ['requests', String(account.request_count)],
  ];
  return fields.flatMap(([label, value]) => (value === undefined ? [] : [`${label.padEnd(9)} ${printable(value)}`]));
}

function describePlan({ active, periods }: ShownAccount): string {
  const last = periods.at(-1);
  if (last === undefined) return 'none yet';
  return active ? `active until ${last.ends_at}` : `ended at ${last.ends_at}`;
}

function describeLimits(limits: RateLimits | null): string {
  if (limits === null) return 'as configured';
  const named = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return named.length === 0 ? 'as configured' : `${named.join(', ')}; otherwise as configured`;
}

import { type AccountRecord, activePeriod, type PeriodRecord } from '#core/business/accounts/account-record.ts';
import type { RateLimits } from '#core/gateway/facts.ts';
import { printable } from '#core/platform/logger.ts';

/** The output of `--json`. */
export interface ShownAccount {
  readonly id: string;
  /** Equal to `id`; kept until 0.7. */
  readonly account: string;
  readonly name: string;
  readonly email: string | null;
  readonly created_at: string;
  /** The key itself; present only in the output of the command that created it. */
  readonly key?: string;
  readonly hint: string | null;
  readonly rotated_at: string | null;
  readonly request_count: number;
  readonly active: boolean;
  /** As in `GET /v1/key`: adjacent periods are merged. */
  readonly active_period: ShownTime | null;
  readonly plan: string | null;
  readonly periods: readonly (ShownTime & { readonly label: string })[];
  /** Limits that replace the configured ones; null if there are none. */
  readonly limits: RateLimits | null;
}

interface ShownTime {
  readonly starts_at: string;
  readonly ends_at: string;
}

export interface LimitOptions {
  readonly limit?: number;
  readonly period?: number;
  readonly burst?: number;
  readonly concurrent?: number;
  readonly weight?: number;
}

/** The limits among the options; undefined if there are none. */
export function limitsFrom({ limit, period, burst, concurrent, weight }: LimitOptions): RateLimits | undefined {
  const named = Object.entries({ limit, period, burst, concurrent, weight }).filter(([, value]) => value !== undefined);
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

export function showAccount(record: AccountRecord): ShownAccount {
  const active = activePeriod(record, record.readAt);
  return {
    id: record.id,
    account: record.id,
    name: record.name,
    email: record.email ?? null,
    created_at: record.createdAt.toISOString(),
    hint: record.key?.hint ?? null,
    rotated_at: record.key?.rotatedAt?.toISOString() ?? null,
    request_count: record.requestCount,
    active: active !== undefined,
    active_period: active === undefined ? null : showTime(active),
    plan: active?.label ?? null,
    periods: record.periods.map((period) => ({ ...showTime(period), label: period.label })),
    limits: record.key?.limits ?? null,
  };
}

function showTime({ startsAt, endsAt }: PeriodRecord): ShownTime {
  return { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() };
}

/** Human-readable output: one field per line. */
export function showFields(account: ShownAccount): string[] {
  const { key, name, email } = account;
  const fields: [string, string | undefined][] = [
    ['key', key === undefined ? (account.hint ?? 'none') : `${key}   (shown only once)`],
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

function describePlan({ active_period: active, plan, periods }: ShownAccount): string {
  if (active !== null) return `${plan}, active until ${active.ends_at}`;
  const last = periods.at(-1);
  return last === undefined ? 'none yet' : `ended at ${last.ends_at}`;
}

function describeLimits(limits: RateLimits | null): string {
  if (limits === null) return 'as configured';
  const named = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return named.length === 0 ? 'as configured' : `${named.join(', ')}; otherwise as configured`;
}

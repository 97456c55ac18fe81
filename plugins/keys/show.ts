import { nameWithAddress } from '#core/business/accounts/account-names.ts';
import { type AccountRecord, findActivePeriod, type PeriodRecord } from '#core/business/accounts/account-record.ts';
import { determinePass, formatPass } from '#core/business/accounts/pass-state.ts';
import type { RateLimits } from '#core/gateway/facts.ts';
import { escapeControls } from '#core/platform/logger.ts';

export interface ShownAccount {
  readonly record: AccountRecord;
  readonly key?: string; // only if the command has just created it
}

interface AccountJson {
  readonly id: string;
  readonly account: string; // equal to `id`; kept until 0.7
  readonly name: string;
  readonly email: string | null;
  readonly created_at: string;
  readonly key?: string; // only if the command has just created it
  readonly hint: string | null;
  readonly rotated_at: string | null;
  readonly request_count: number;
  readonly active: boolean;
  readonly active_period: TimeSpan | null; // adjacent periods are merged, as in `GET /v1/key`
  readonly plan: string | null;
  readonly periods: readonly (TimeSpan & { readonly label: string })[];
  readonly limits: RateLimits | null; // those that override the configured ones
}

interface TimeSpan {
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

export function readLimits({ limit, period, burst, concurrent, weight }: LimitOptions): RateLimits | undefined {
  const definedEntries = Object.entries({ limit, period, burst, concurrent, weight }).filter(
    ([, value]) => value !== undefined,
  );
  return definedEntries.length === 0 ? undefined : Object.fromEntries(definedEntries);
}

export function describeAccountForJson({ record, key }: ShownAccount): AccountJson {
  const activePeriod = findActivePeriod(record, record.readAt);
  return {
    id: record.id,
    account: record.id,
    name: record.name,
    email: record.email ?? null,
    created_at: record.createdAt.toISOString(),
    hint: record.key?.hint ?? null,
    rotated_at: record.key?.rotatedAt?.toISOString() ?? null,
    request_count: record.requestCount,
    active: activePeriod !== undefined,
    active_period: activePeriod === undefined ? null : describeSpan(activePeriod),
    plan: activePeriod?.label ?? null,
    periods: record.periods.map((period) => ({ ...describeSpan(period), label: period.label })),
    limits: record.key?.limits ?? null,
    ...(key !== undefined && { key }),
  };
}

function describeSpan({ startsAt, endsAt }: PeriodRecord): TimeSpan {
  return { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() };
}

export function renderFields({ record, key }: ShownAccount): string[] {
  const { id, name, email, createdAt, requestCount } = record;
  const fields: [string, string | undefined][] = [
    ['key', key === undefined ? (record.key?.hint ?? 'none') : `${key}   (shown only once)`],
    ['account', id],
    ['name', nameWithAddress(name, email)],
    ['created', createdAt.toISOString()],
    ['rotated', record.key?.rotatedAt?.toISOString()],
    ['plan', formatPass(determinePass(record, record.readAt), (time) => time.toISOString())],
    ['limits', describeLimits(record.key?.limits)],
    ['requests', String(requestCount)],
  ];
  return fields.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(9)} ${escapeControls(value)}`],
  );
}

function describeLimits(limits: RateLimits | undefined): string {
  const entries = Object.entries(limits ?? {}).map(([name, value]) => `${name} ${value}`);
  return entries.length === 0 ? 'as configured' : `${entries.join(', ')}; others as configured`;
}

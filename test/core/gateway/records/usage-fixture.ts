import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { readRequests } from '#core/gateway/records/read-requests.ts';
import type { UsageBy, UsageKeys } from '#core/gateway/records/usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { hour } from './record-fixture.ts';

export function readAll(database: Database): Promise<RequestRecord[]> {
  return Array.fromAsync(readRequests(database, {}));
}

/** What usage must say of these records; `timed` is the number of those with a first content. */
export function countRecords(records: readonly RequestRecord[], by: readonly UsageBy[]): object[] {
  const keyOf = (record: RequestRecord) => {
    const all: UsageKeys = {
      hour: record.started_at - (record.started_at % hour),
      account: record.account_id,
      model: record.alias_of ?? record.model,
      route: record.route,
      client: clientOf(record.user_agent),
    };
    return by.map((name) => all[name]);
  };
  const found = Map.groupBy(records, (record) => JSON.stringify(keyOf(record)));
  if (by.length === 0 && found.size === 0) found.set('[]', []);
  return [...found]
    .map(([key, some]) => ({ key: JSON.parse(key) as (string | number | null)[], some }))
    .toSorted((a, b) => compare(a.key, b.key))
    .map(({ key, some }) => ({ ...Object.fromEntries(by.map((name, index) => [name, key[index]])), ...count(some) }));
}

/** The product of a user agent, as usage by client names it. */
function clientOf(userAgent: string | null): string | null {
  if (userAgent === null || userAgent === '') return null;
  const [, product] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,39})(?:\/| |$)/.exec(userAgent) ?? [];
  return product?.toLowerCase() ?? 'other';
}

function count(records: readonly RequestRecord[]): object {
  const number = (matches: (record: RequestRecord) => boolean) => records.filter(matches).length;
  const sum = (read: (record: RequestRecord) => number | null) =>
    records.reduce((total, record) => total + (read(record) ?? 0), 0);
  return {
    requests: records.length,
    answered: number(({ outcome }) => outcome === 'answered'),
    refused: number(({ outcome }) => outcome === 'refused'),
    failed: number(({ outcome }) => outcome === 'failed' || outcome === 'interrupted'),
    aborted: number(({ outcome }) => outcome === 'aborted'),
    errors: number(({ outcome }) => outcome !== 'answered' && outcome !== 'aborted'),
    failovers: number(({ has_failover: hasFailover }) => hasFailover === true),
    cached: number(({ cache }) => cache === 'hit'),
    inputTokens: sum(({ input_tokens: tokens }) => tokens),
    outputTokens: sum(({ output_tokens: tokens }) => tokens),
    policyRefusals: number(({ is_policy_refusal: isRefused }) => isRefused === true),
    cacheReadTokens: sum(({ cache_read_tokens: tokens }) => tokens),
    cacheWriteTokens: sum(({ cache_write_tokens: tokens }) => tokens),
    images: sum(({ images }) => images),
    timed: number(({ first_content_ms: time }) => time !== null),
  };
}

/** As PostgreSQL sorts: null last. */
function compare(a: readonly (string | number | null)[], b: readonly (string | number | null)[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? null;
    if (value === other) continue;
    if (value === null) return 1;
    if (other === null) return -1;
    return value < other ? -1 : 1;
  }
  return 0;
}

import type { RateLimits } from '#core/gateway/facts.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { epoch, epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { Account, ApiKey } from './entities.ts';
import { periodsInForceSql } from './periods-in-force.ts';

export interface AccountRecord {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly createdAt: Date;
  readonly blockedAt: Date | undefined;
  readonly pausedAt: Date | undefined; // set if the owner requested the block
  readonly deletedAt: Date | undefined; // when the personal data was removed
  /** Number of recorded requests. Lags behind, because records reach the database late. */
  readonly requestCount: number;
  readonly key: KeyRecord | undefined;
  /** Periods in force that have not ended, earliest first; if all have ended, only the last one. */
  readonly periods: readonly PeriodRecord[];
  readonly readAt: number; // epoch ms, by the database's clock
}

export interface KeyRecord {
  readonly id: string;
  readonly digest: string; // SHA-256, hexadecimal
  readonly hint: string;
  readonly limits: RateLimits | undefined;
  readonly createdAt: Date;
  readonly rotatedAt: Date | undefined;
  readonly isShown: boolean; // false if the owner has never seen the key; `issueFirstKey` then issues one to show
}

/** A period of paid time in force, from the ledger. */
export interface PeriodRecord {
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly days?: number; // as sold
  readonly label: string; // English label; if the period has none, its days
  readonly unnamedDays?: number; // the days, if the period has no label; for texts in other languages
  /** Rate limits that were sold with the plan; undefined if the configured ones apply. */
  readonly limits: RateLimits | undefined;
  readonly grantedAt?: Date; // when an operator granted the period; set only if it has a label
}

export type AccountField = 'id' | 'digest' | 'hint' | 'email';

const fieldConditions: Record<AccountField, string> = {
  id: 'a.id in (select value::uuid from json_array_elements_text(?::json))',
  digest: "k.sha256 in (select decode(value, 'hex') from json_array_elements_text(?::json))",
  // Has no index, because only operators search by hint.
  hint: 'k.hint in (select value from json_array_elements_text(?::json))',
  // Uses two indexes, because the database's collation may not fold the case of ASCII letters the way addresses require.
  email: `a.id in (
    with sought as (select value from json_array_elements_text(?::json))
    select o.id from sought join account o on lower(o.email) = lower(value)
    union select o.id from sought join account o on lower(o.email collate "C") = lower(value collate "C"))`,
};

const selectAccounts = `
  select a.id, a.name, a.email, ${epochs('a.created_at', 'a.blocked_at', 'a.paused_at', 'a.deleted_at')}, a.request_count::float8 as request_count,
    k.id as key_id, encode(k.sha256, 'hex') as digest, k.hint, k.limits,
    ${epoch('k.created_at')} as key_created_at, ${epoch('k.rotated_at')} as key_rotated_at,
    k.shown_at is not null as is_shown,
    (select json_agg(json_build_array(${epoch('p.starts_at')}, ${epoch('p.ends_at')}, p.days, p.label, p.limits,
          case when p.reason = 'grant' and p.label is not null then ${epoch('p.created_at')} end)
        order by p.starts_at)
      from (select p.*, max(p.ends_at) over () as last_end from ${periodsInForceSql} p where p.account_id = a.id) p
      where p.ends_at >= least(now(), p.last_end)
    ) as periods,
    ${epoch('clock_timestamp()')} as read_at
  from account a left join api_key k on k.account_id = a.id
  where `;

type AccountRow = RowOf<Omit<AccountRecord, 'key' | 'periods'>, typeof Account> &
  Row<typeof ApiKey, 'hint'> & {
    readonly key_id: string | null;
    readonly digest: string;
    readonly limits: RateLimits | null;
    readonly key_created_at: number;
    readonly key_rotated_at: number | null;
    readonly is_shown: boolean;
    readonly periods: StoredPeriod[] | null;
  };

export async function readAccounts(
  database: Queries,
  field: AccountField,
  values: readonly string[],
): Promise<AccountRecord[]> {
  // PostgreSQL raises an error for a text that is not a UUID; no account can have such an id anyway.
  const validValues = field === 'id' ? values.filter((value) => uuid.test(value)) : values;
  if (validValues.length === 0) return [];
  const rows = await database.query<AccountRow>(selectAccounts + fieldConditions[field], [JSON.stringify(validValues)]);
  return rows.map(toAccount);
}

function toAccount({ key_id: keyId, digest, hint, limits, is_shown: isShown, ...row }: AccountRow): AccountRecord {
  const { keyCreatedAt: createdAt, keyRotatedAt: rotatedAt, periods, ...account } = toRecord(row);
  const key = { digest, hint, limits: limits ?? undefined, createdAt, rotatedAt, isShown };
  return {
    ...account,
    key: keyId === null ? undefined : { id: keyId, ...key },
    periods: periods?.map(toPeriod) ?? [],
    readAt: row.read_at,
  };
}

type StoredPeriod = [number, number, number, string | null, RateLimits | null, number | null];

function toPeriod([startsAt, endsAt, days, label, limits, grantedAt]: StoredPeriod): PeriodRecord {
  return {
    startsAt: new Date(startsAt),
    endsAt: new Date(endsAt),
    days,
    label: label ?? (days === 1 ? '1 day' : `${days} days`),
    ...(label === null && { unnamedDays: days }),
    limits: limits ?? undefined,
    ...(grantedAt !== null && { grantedAt: new Date(grantedAt) }),
  };
}

/**
 * Returns the active period: start, label and limits of the period that contains `now`, and the end of the last period adjacent to it.
 *
 * @param now epoch ms of the database's clock
 */
export function findActivePeriod<Period extends Pick<PeriodRecord, 'startsAt' | 'endsAt'>>(
  { periods }: { readonly periods: readonly Period[] },
  now: number,
): Period | undefined {
  const index = periods.findIndex(({ startsAt, endsAt }) => startsAt.getTime() <= now && now < endsAt.getTime());
  const currentPeriod = periods[index];
  if (currentPeriod === undefined) return undefined;
  let { endsAt } = currentPeriod;
  for (const next of periods.slice(index + 1)) {
    if (next.startsAt > endsAt) break;
    if (next.endsAt > endsAt) endsAt = next.endsAt;
  }
  return { ...currentPeriod, endsAt };
}

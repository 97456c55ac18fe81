import { defineEntity, p } from '@mikro-orm/core';
import { impersonal, personal } from '#core/platform/database/personal.ts';
import type { Column, Columns } from './column.ts';
import { columns } from './columns.ts';
import { notableCondition } from './filter.ts';
import { defaultedCounts, speedCounts, storedCounts } from './usage.ts';

/** For rare requests of one account. The indexes include status and model, so filters on them read no other rows. */
const rareRequestConditions = {
  request_log_failovers: 'has_failover',
  request_log_hits: `cache = 'hit'`,
  request_log_status: 'status <> 200',
  request_log_bad: `outcome in ('refused', 'failed', 'interrupted')`,
  request_log_stopped: `outcome = 'aborted'`,
};

/** MikroORM compares indexes on expressions by name. */
const requestIndexes = [
  {
    name: 'request_log_rare',
    expression: `create index request_log_rare on request_log (started_at desc, id desc, status, outcome, has_failover, cache, route, (coalesce(alias_of, model))) where ${notableCondition}`,
  },
  {
    name: 'request_log_other_model',
    expression: 'create index request_log_other_model on request_log (started_at desc) where is_other_model',
  },
  ...Object.entries(rareRequestConditions).map(([name, condition]) => ({
    name,
    expression: `create index ${name} on request_log (account_id, started_at desc, status, (coalesce(alias_of, model))) where ${condition}`,
  })),
  ...Object.entries({
    request_log_model: 'account_id, (coalesce(alias_of, model)), started_at desc',
    request_log_route: 'account_id, route, started_at desc',
    request_log_account: 'account_id, started_at desc',
  }).map(([name, indexed]) => ({ name, expression: `create index ${name} on request_log (${indexed})` })),
];

const { id: _id, started_at: _startedAt, ...otherColumns } = columns;

export const RequestLog = defineEntity({
  name: 'RequestLog',
  properties: {
    started_at: p.datetime().primary(),
    id: impersonal(p.text().primary()),
    ...createProperties(otherColumns),
    instance: impersonal(p.text()), // the process that served the request
  },
  indexes: requestIndexes,
  checks: [
    {
      name: 'request_log_outcome_check',
      expression: `outcome in ('answered', 'refused', 'failed', 'aborted', 'interrupted')`,
    },
    { name: 'request_log_cache_check', expression: `cache in ('hit', 'miss')` },
  ],
});

/** A recorded prompt or response. */
export const RequestContent = defineEntity({
  name: 'RequestContent',
  properties: {
    request: () => p.manyToOne(RequestLog).primary().joinColumns('started_at', 'id').createForeignKeyConstraint(false),
    part: p.enum(['request', 'reply'] as const).primary(),
    isCut: p.boolean(), // the body was longer than the limit
    body: personal(p.text()),
  },
});

const hour = p.datetime().primary(); // the other parts of the primary key may be null
const countsWithDefault: ReadonlySet<string> = new Set(defaultedCounts);
const counts = Object.fromEntries(
  storedCounts.map((name) => {
    const hasDefault = countsWithDefault.has(name);
    if (name.endsWith('_tokens')) return [name, hasDefault ? p.bigint('number').defaultRaw('0') : p.bigint('number')];
    return [name, hasDefault ? p.integer().defaultRaw('0') : p.integer()];
  }),
);
const speed = Object.fromEntries(speedCounts.map((name) => [name, p.bigint('number').defaultRaw('0')]));
const byAccount = { account_id: p.uuid().nullable().primary() };
const byModel = {
  model: impersonal(p.text().nullable().primary()),
  route: impersonal(p.text().nullable().primary()),
};
const histogram = {
  first_content_buckets: impersonal(p.array<number>().columnType('smallint[]').nullable()),
  first_content_counts: impersonal(p.array<number>().columnType('integer[]').nullable()),
};

/** Hourly counts by account. */
export const UsageAccount = defineEntity({
  name: 'UsageAccount',
  properties: { hour, ...byAccount, ...counts, ...histogram },
  indexes: [{ name: 'usage_account_hour', properties: 'hour' }],
  uniques: [uniqueKey('usage_account', 'account_id, hour')],
});

/** Hourly counts by account, model and route. */
export const UsageHour = defineEntity({
  name: 'UsageHour',
  properties: { hour, ...byModel, ...byAccount, ...counts, ...histogram },
  indexes: [{ name: 'usage_hour_hour', properties: 'hour' }],
  uniques: [uniqueKey('usage_hour', 'account_id, hour, model, route')],
});

/** Hourly counts by model and route, over all accounts. */
export const UsageTotal = defineEntity({
  name: 'UsageTotal',
  properties: { hour, ...byModel, ...counts, ...histogram, ...speed },
  uniques: [uniqueKey('usage_total', 'hour, model, route')],
});

const clientCounts = {
  hour,
  client: impersonal(p.text().nullable().primary()),
  ...byModel,
  ...Object.fromEntries(
    storedCounts.map((name) => [name, name.endsWith('_tokens') ? p.bigint('number') : p.integer()]),
  ),
};

/** Hourly model calls by calling program, over all accounts. */
export const UsageClient = defineEntity({
  name: 'UsageClient',
  properties: clientCounts,
  uniques: [uniqueKey('usage_client', 'hour, client, model, route')],
});

/** Model calls that have not been added to `UsageClient` yet. */
export const UsageClientDelta = defineEntity({ name: 'UsageClientDelta', properties: clientCounts });

/** Counts that have not been added to the hours yet. */
export const UsageDelta = defineEntity({
  name: 'UsageDelta',
  properties: {
    hour,
    ...byModel,
    ...byAccount,
    ...counts,
    ...speed,
    first_content_bucket: p.smallint().nullable(),
  },
});

const attemptCounts = {
  hour,
  route: impersonal(p.text().primary()),
  outcome: impersonal(p.text().nullable().primary()),
  fault: impersonal(p.text().nullable().primary()),
  attempts: p.integer(),
  last_at: p.datetime(),
  last_error: impersonal(p.text().nullable()),
};

export const RouteUsageHour = defineEntity({
  name: 'RouteUsageHour',
  properties: attemptCounts,
  uniques: [uniqueKey('route_usage_hour', 'hour, route, outcome, fault')],
});

/** Attempts that have not been added to `RouteUsageHour` yet. */
export const RouteUsageDelta = defineEntity({
  name: 'RouteUsageDelta',
  properties: attemptCounts,
});

export const UnauthenticatedMinute = defineEntity({
  name: 'UnauthenticatedMinute',
  properties: {
    minute: p.datetime().primary(),
    // Not personal, because it is a network without an account.
    address_block: impersonal(p.text().nullable().primary()),
    status: p.smallint().nullable().primary(),
    requests: p.integer(),
  },
  uniques: [uniqueKey('unauthenticated_minute', 'minute, address_block, status')],
});

function uniqueKey(table: string, key: string) {
  const name = `${table}_key`;
  return { name, expression: `create unique index ${name} on ${table} (${key}) nulls not distinct` };
}

function createProperties(definitions: Columns<never>) {
  return Object.fromEntries(Object.entries(definitions).map(([name, column]) => [name, createProperty(name, column)]));
}

function createProperty(name: string, { type, isRequired, isPersonal }: Column<never>) {
  const property = p.text().columnType(type).fieldName(name);
  const column = isRequired ? property : property.nullable();
  if (isPersonal === undefined) return column;
  return isPersonal ? personal(column) : impersonal(column);
}

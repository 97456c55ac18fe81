import type { EntityManager } from '@mikro-orm/postgresql';
import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { earlierClockSql, epochs, type Row } from '#core/platform/database/rows.ts';
import type { IncidentRow } from './entities.ts';
import type { Incident } from './incident.ts';

const retention = { days: 400, incidents: 5_000 };

const valueColumns = [
  'id',
  'model',
  'kind',
  'cause',
  'latest_kind',
  'latest_cause',
  'lowest_answered',
  'is_removed',
] as const;
const timeColumns = [
  'failed_at',
  'served_at',
  'quiet_since',
  'started_at',
  'opened_at',
  'calm_since',
  'checked_at',
  'ended_at',
  'confirmed_at',
] as const;
type Columns = Row<typeof IncidentRow, (typeof valueColumns)[number] | (typeof timeColumns)[number]>;
const selectedColumns = `${valueColumns.join(', ')}, ${epochs(...timeColumns)}`;

/** Reads incidents that have not ended, including suspected ones. */
export async function readCurrentIncidents(transaction: Pick<EntityManager, 'execute'>): Promise<Incident[]> {
  const rows = await transaction.execute<Columns[]>(`select ${selectedColumns} from incident where ended_at is null`);
  return rows.map(toIncident);
}

/** Lists at most 500 incidents that had not ended before `since` (epoch ms), newest first. */
export async function listIncidents(
  database: Queries,
  { since, limit }: { readonly since: number; readonly limit: number },
): Promise<Incident[]> {
  const rows = await database.query<Columns>(
    `select ${selectedColumns} from incident where opened_at is not null and (ended_at is null or ended_at >= ?)
     order by incident.started_at desc, id desc limit ?`,
    [formatTimestamp(since), Math.min(limit, 500)],
  );
  return rows.map(toIncident);
}

/** Stores an observed incident. Leaves `confirmedAt` alone, because a probe may have confirmed the incident since it was read. */
export async function storeIncident(transaction: EntityManager, incident: Incident): Promise<void> {
  const { latest, lowestAnswered, isRemoved = false } = incident;
  const row: Columns = {
    id: incident.id,
    model: incident.model,
    kind: incident.kind,
    cause: incident.cause,
    latest_kind: latest.kind,
    latest_cause: latest.cause,
    lowest_answered: lowestAnswered ?? null,
    is_removed: isRemoved,
    failed_at: incident.failedAt ?? null,
    served_at: incident.servedAt ?? null,
    quiet_since: incident.quietSince ?? null,
    started_at: incident.startedAt,
    opened_at: incident.openedAt ?? null,
    calm_since: incident.calmSince ?? null,
    checked_at: incident.checkedAt,
    ended_at: incident.endedAt ?? null,
    confirmed_at: incident.confirmedAt ?? null,
  };
  const columns = [...valueColumns, ...timeColumns];
  const values = [...valueColumns.map(() => '?'), ...timeColumns.map(() => 'to_timestamp(?::float8 / 1000)')];
  const updatedColumns = columns.filter((column) => column !== 'id' && column !== 'confirmed_at');
  await transaction.execute(
    `insert into incident (${columns.join(', ')}) values (${values.join(', ')})
     on conflict (id) do update set ${updatedColumns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    columns.map((column) => row[column]),
  );
}

/** Records that a probe had failed on every route of the incident's model at this time (epoch ms). Keeps the first such time. */
export async function confirmIncident(database: Queries, { id }: Pick<Incident, 'id'>, at: number): Promise<void> {
  await database.query('update incident set confirmed_at = coalesce(confirmed_at, ?) where id = ?', [
    formatTimestamp(at),
    id,
  ]);
}

export async function removeIncident(transaction: EntityManager, { id }: Pick<Incident, 'id'>): Promise<void> {
  await transaction.execute('delete from incident where id = ?', [id]);
}

/** @param now epoch ms */
export async function removeOldIncidents(database: Queries, now: number): Promise<void> {
  await database.query(
    `delete from incident where ended_at < ${earlierClockSql} - make_interval(days => ?) or id in (
       select id from incident where ended_at is not null order by started_at desc offset ?)`,
    [formatTimestamp(now), retention.days, retention.incidents],
  );
}

function toIncident(row: Columns): Incident {
  return {
    id: row.id,
    model: row.model,
    kind: row.kind,
    cause: row.cause,
    latest: { kind: row.latest_kind ?? row.kind, cause: row.latest_cause ?? row.cause },
    failedAt: row.failed_at ?? undefined,
    servedAt: row.served_at ?? undefined,
    quietSince: row.quiet_since ?? undefined,
    lowestAnswered: row.lowest_answered ?? undefined,
    startedAt: row.started_at,
    openedAt: row.opened_at ?? undefined,
    calmSince: row.calm_since ?? undefined,
    checkedAt: row.checked_at,
    endedAt: row.ended_at ?? undefined,
    isRemoved: row.is_removed,
    confirmedAt: row.confirmed_at ?? undefined,
  };
}

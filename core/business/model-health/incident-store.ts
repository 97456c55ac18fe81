import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '#core/platform/database/database.ts';
import { timestamp } from '#core/gateway/records/filter.ts';
import type { Incident } from './incident.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import type { IncidentRow } from './entities.ts';

/** Days for which incidents are kept, and how many at most. */
const kept = { days: 400, incidents: 5_000 };

type StoredIncident = Row<
  typeof IncidentRow,
  | 'id'
  | 'model'
  | 'kind'
  | 'cause'
  | 'lowest_answered'
  | 'started_at'
  | 'opened_at'
  | 'calm_since'
  | 'checked_at'
  | 'ended_at'
>;

const columns = `id, model, kind, cause, lowest_answered::float8 AS lowest_answered, ${epochs('started_at', 'opened_at', 'calm_since', 'checked_at', 'ended_at')}`;

/** The incidents without an end, suspected ones included. */
export async function readCurrentIncidents(transaction: EntityManager): Promise<Incident[]> {
  const rows = await transaction.execute<StoredIncident[]>(`SELECT ${columns} FROM incident WHERE ended_at IS NULL`);
  return rows.map(toIncident);
}

/** Those that were going on at some time since then, the newest first. @param since epoch ms @param limit at most 500 */
export async function listIncidents(
  database: Pick<Database, 'query'>,
  { since, limit }: { readonly since: number; readonly limit: number },
): Promise<Incident[]> {
  const rows = await database.query<StoredIncident>(
    `SELECT ${columns} FROM incident WHERE opened_at IS NOT NULL AND (ended_at IS NULL OR ended_at >= ?)
     ORDER BY incident.started_at DESC, id DESC LIMIT ?`,
    [timestamp(since), Math.min(limit, 500)],
  );
  return rows.map(toIncident);
}

export async function writeIncident(transaction: EntityManager, incident: Incident): Promise<void> {
  const { id, model, kind, cause, lowestAnswered, startedAt, openedAt, calmSince, checkedAt, endedAt } = incident;
  await transaction.execute(
    `INSERT INTO incident (id, model, kind, cause, lowest_answered, started_at, opened_at, calm_since, checked_at, ended_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, cause = excluded.cause, lowest_answered = excluded.lowest_answered,
       opened_at = excluded.opened_at, calm_since = excluded.calm_since, checked_at = excluded.checked_at, ended_at = excluded.ended_at`,
    [
      id,
      model,
      kind,
      cause,
      lowestAnswered ?? null,
      timestamp(startedAt),
      ...[openedAt, calmSince, checkedAt, endedAt].map((time) => (time === undefined ? null : timestamp(time))),
    ],
  );
}

export async function removeIncident(transaction: EntityManager, { id }: Pick<Incident, 'id'>): Promise<void> {
  await transaction.execute('DELETE FROM incident WHERE id = ?', [id]);
}

/** Removes incidents over the age and the number that are kept. @param now epoch ms */
export async function removeOldIncidents(database: Pick<Database, 'query'>, now: number): Promise<void> {
  await database.query(
    `DELETE FROM incident WHERE ended_at < ? OR id IN (
       SELECT id FROM incident WHERE ended_at IS NOT NULL ORDER BY started_at DESC OFFSET ?)`,
    [timestamp(now - kept.days * 86_400_000), kept.incidents],
  );
}

function toIncident(row: StoredIncident): Incident {
  return {
    id: row.id,
    model: row.model,
    kind: row.kind,
    cause: row.cause,
    lowestAnswered: row.lowest_answered ?? undefined,
    startedAt: row.started_at,
    openedAt: row.opened_at ?? undefined,
    calmSince: row.calm_since ?? undefined,
    checkedAt: row.checked_at,
    endedAt: row.ended_at ?? undefined,
  };
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { InferEntity } from '@mikro-orm/core';
import type { Database } from '#core/platform/database/database.ts';
import { timestamp } from '#core/gateway/records/filter.ts';
import type { Incident } from './incident.ts';
import type { IncidentRow } from './entities.ts';

/** Days for which incidents are kept, and how many at most. */
const kept = { days: 400, incidents: 5_000 };

/** Entities are loaded with the database: commands that open none do without MikroORM. */
const loadEntity = async () => (await import('./entities.ts')).IncidentRow;

/** The incidents without an end, suspected ones included. */
export async function readCurrentIncidents(transaction: EntityManager): Promise<Incident[]> {
  const rows = await transaction.find(await loadEntity(), { endedAt: null }, { disableIdentityMap: true });
  return rows.map(toIncident);
}

/** Those that were going on at some time since then, the newest first. @param since epoch ms @param limit at most 500 */
export async function listIncidents(
  database: Pick<Database, 'fork'>,
  { since, limit }: { readonly since: number; readonly limit: number },
): Promise<Incident[]> {
  const rows = await database
    .fork()
    .find(
      await loadEntity(),
      { openedAt: { $ne: null }, $or: [{ endedAt: null }, { endedAt: { $gte: new Date(since) } }] },
      { orderBy: { startedAt: 'desc', id: 'desc' }, limit: Math.min(limit, 500) },
    );
  return rows.map(toIncident);
}

/** Writes what was observed. Only `confirmIncident` confirms: a probe may have done so since the incident was read. */
export async function writeIncident(transaction: EntityManager, incident: Incident): Promise<void> {
  const { latest, startedAt, openedAt, calmSince, checkedAt, endedAt, lowestAnswered, ...rest } = incident;
  const values = {
    ...rest,
    latestKind: latest.kind,
    latestCause: latest.cause,
    failedAt: toDate(rest.failedAt),
    servedAt: toDate(rest.servedAt),
    quietSince: toDate(rest.quietSince),
    lowestAnswered: lowestAnswered ?? null,
    startedAt: new Date(startedAt),
    openedAt: toDate(openedAt),
    calmSince: toDate(calmSince),
    checkedAt: new Date(checkedAt),
    endedAt: toDate(endedAt),
    isRemoved: rest.isRemoved ?? false,
    confirmedAt: toDate(rest.confirmedAt),
  };
  await transaction.upsert(await loadEntity(), values, { onConflictExcludeFields: ['confirmedAt'] });
}

/** Notes that a probe has failed on every route of its model, the first time. @param at epoch ms */
export async function confirmIncident(
  database: Pick<Database, 'query'>,
  { id }: Pick<Incident, 'id'>,
  at: number,
): Promise<void> {
  await database.query('UPDATE incident SET confirmed_at = coalesce(confirmed_at, ?) WHERE id = ?', [
    timestamp(at),
    id,
  ]);
}

export async function removeIncident(transaction: EntityManager, { id }: Pick<Incident, 'id'>): Promise<void> {
  await transaction.nativeDelete(await loadEntity(), { id });
}

/** Removes incidents over the age and the number that are kept. @param now epoch ms */
export async function removeOldIncidents(database: Pick<Database, 'query'>, now: number): Promise<void> {
  await database.query(
    `DELETE FROM incident WHERE ended_at < ? OR id IN (
       SELECT id FROM incident WHERE ended_at IS NOT NULL ORDER BY started_at DESC OFFSET ?)`,
    [timestamp(now - kept.days * 86_400_000), kept.incidents],
  );
}

function toIncident(row: InferEntity<typeof IncidentRow>): Incident {
  return {
    id: row.id,
    model: row.model,
    kind: row.kind,
    cause: row.cause,
    latest: { kind: row.latestKind ?? row.kind, cause: row.latestCause ?? row.cause },
    failedAt: row.failedAt?.getTime(),
    servedAt: row.servedAt?.getTime(),
    quietSince: row.quietSince?.getTime(),
    lowestAnswered: row.lowestAnswered ?? undefined,
    startedAt: row.startedAt.getTime(),
    openedAt: row.openedAt?.getTime(),
    calmSince: row.calmSince?.getTime(),
    checkedAt: row.checkedAt.getTime(),
    endedAt: row.endedAt?.getTime(),
    isRemoved: row.isRemoved,
    confirmedAt: row.confirmedAt?.getTime(),
  };
}

function toDate(time: number | undefined): Date | null {
  return time === undefined ? null : new Date(time);
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { Services } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import type { AccountEventRow } from './entities.ts';

/** PostgreSQL notifies running gateways of committed events on this channel. */
export const eventChannel = 'account_event';
const maxPayloadLength = 8_000; // characters of JSON; the event bus accepts 16 KB
const batchSize = 100;
const retentionDays = 90;

/** A recorded event of any type. */
export type AccountEvent = { [Name in EventName]: StoredEvent<Name> }[EventName];

interface StoredEvent<Name extends EventName> {
  /** Ascending. A string, because PostgreSQL's bigint exceeds JavaScript's safe integers. */
  readonly id: string;
  readonly name: Name;
  readonly payload: EventTypes[Name];
  readonly createdAt: Date;
}

type EventRow = Row<typeof AccountEventRow, 'id'> & { readonly name: EventName; readonly payload: string };

/**
 * Records an event in the transaction that makes the reported change. A running gateway publishes it right after the commit, whichever
 * process recorded it; no other call is needed.
 *
 * @param dedupeKey identifies the occurrence, such as `order.paid:ORDER`; a second event with the same key is not recorded
 */
export async function recordEvent<Name extends EventName>(
  transaction: EntityManager,
  name: Name,
  payload: EventTypes[Name],
  dedupeKey: string,
): Promise<void> {
  const json = JSON.stringify(payload);
  if (json.length > maxPayloadLength)
    throw new Error(`the event ${name} is longer than ${maxPayloadLength} characters`);
  await transaction.execute(
    `with recorded as (
       insert into account_event (name, payload, dedupe_key) values (?, ?::jsonb, ?)
       on conflict (dedupe_key) do nothing returning id
     )
     select pg_notify('${eventChannel}', id::text) from recorded`,
    [name, json, dedupeKey],
  );
}

/**
 * Publishes the recorded events that are still unpublished, oldest first. Only one instance publishes each event, unless it dies before the
 * commit: then the event is published again (at-least-once delivery).
 *
 * Call it only in a serving process: with in-memory shared state, the event would not reach the handlers of another process.
 *
 * @throws SharedUnavailable; events published before the failure are marked as published
 */
export async function publishEvents(host: Pick<Services, 'database' | 'events'>): Promise<void> {
  for (;;) {
    const { count, failure } = await host.database
      .fork()
      .transactional((transaction) => publishBatch(transaction, host));
    if (failure !== undefined) throw failure;
    if (count < batchSize) return;
  }
}

interface Batch {
  readonly count: number;
  readonly failure?: unknown;
}

async function publishBatch(transaction: EntityManager, { events }: Pick<Services, 'events'>): Promise<Batch> {
  const rows = await transaction.execute<EventRow[]>(
    `select id::text, name, payload::text from account_event where published_at is null
     order by account_event.id limit ${batchSize} for update skip locked`,
  );
  const publishedIds: string[] = [];
  const markPublished = async (): Promise<void> => {
    if (publishedIds.length === 0) return;
    await transaction.execute('update account_event set published_at = clock_timestamp() where id = any(?::bigint[])', [
      `{${publishedIds.join(',')}}`,
    ]);
  };
  for (const { id, name, payload } of rows) {
    try {
      await events.publish(name, JSON.parse(payload));
    } catch (failure) {
      await markPublished();
      return { count: publishedIds.length, failure };
    }
    publishedIds.push(id);
  }
  await markPublished();
  return { count: publishedIds.length };
}

/**
 * Reads recorded events in order of id. An id can become visible after a larger one if its transaction took longer, so a consumer that must
 * not miss events has to reread recent ones and skip the ids that it has seen.
 *
 * @param after id of the last event already read; `0` to start
 * @param limit at most 1,000
 */
export async function readEvents(database: Queries, after: string, limit: number): Promise<AccountEvent[]> {
  const rows = await database.query<EventRow & Row<typeof AccountEventRow, 'created_at'>>(
    `select id::text, name, payload::text, ${epochs('created_at')}
     from account_event where id > ?::bigint order by account_event.id limit ?`,
    [after, Math.min(limit, 1_000)],
  );
  return rows.map(
    ({ id, name, payload, created_at: createdAt }) =>
      ({ id, name, payload: JSON.parse(payload), createdAt: new Date(createdAt) }) as AccountEvent,
  );
}

export async function removeOldEvents(database: Queries): Promise<void> {
  await database.query(
    `delete from account_event where published_at < clock_timestamp() - make_interval(days => ${retentionDays})`,
  );
}

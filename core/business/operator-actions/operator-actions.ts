import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import { parseObject } from '#core/platform/json.ts';
import type { OperatorActionRow } from './entities.ts';

/** Details of an action, by name: the members of its input, and those that describe its subject. */
export type ActionDetails = Readonly<Record<string, unknown>>;

/** Who performs an action. For commands and the API, the id is not an account's id. */
export interface Operator {
  readonly id: string;
  readonly name: string;
}

interface OperatorAction {
  readonly operator: Operator;
  readonly action: string; // `SUBJECT.VERB`
  /** Id of an account, an order, or a flag without an order; a route; a name chosen by an operator; or a fixed name such as `books`. */
  readonly subject: string;
  readonly details: ActionDetails;
}

export interface RecordedAction {
  readonly id: string;
  readonly operator: string;
  /** The action's name, which may belong to a removed plugin. */
  readonly action: string;
  readonly subject: string;
  /** The operator's note. Records from earlier versions have only this text. */
  readonly note: string | undefined;
  /** The other members of the input. */
  readonly details: ActionDetails;
  readonly createdAt: Date;
  /** `unknown`: the action is still running, its process died before it finished, or its outcome could not be stored. */
  readonly outcome: 'done' | 'failed' | 'unknown';
  readonly error: string | undefined;
}

/** Maximum duration of an action. The slowest one reconciles a provider's books when there are many charges. */
export const maxActionMs = 15 * 60_000;

const maxErrorLength = 500;

type Columns = RowOf<Omit<RecordedAction, 'details'>, typeof OperatorActionRow>;
const selectedColumns = `a.id::text, a.operator, a.action, a.subject, a.note, ${epochs('a.created_at')},
  case when a.error is not null then 'failed' when a.finished_at is null then 'unknown' else 'done' end as outcome, a.error`;

/**
 * Performs an operator's action. Records the action before it starts, so that none goes unrecorded, and its outcome once it has ended. If
 * the outcome cannot be stored, it remains unknown: an operator who was told that a refund failed might repeat it.
 *
 * @throws errors from `perform`
 */
export async function recordAction<T>(
  database: Queries,
  { operator, action, subject, details }: OperatorAction,
  perform: () => Promise<T>,
): Promise<T> {
  const id = randomUUIDv7();
  await database.query(
    'insert into operator_action (id, operator_id, operator, action, subject, note) values (?, ?, ?, ?, ?, ?)',
    [id, operator.id, operator.name, action, subject, serializeDetails(details)],
  );
  let failure: string | undefined;
  try {
    return await perform();
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    await finishAction(database, id, failure).catch(() => undefined);
  }
}

/** Records what owners do with their own account, in the same transaction. Stores no name, because the record outlives the account. */
export async function recordOwnAction(
  transaction: Pick<EntityManager, 'execute'>,
  action: string,
  accountId: string,
): Promise<void> {
  await transaction.execute(
    `insert into operator_action (id, operator_id, operator, action, subject, finished_at)
     values (?, ?, 'owner', ?, ?, clock_timestamp())`,
    [randomUUIDv7(), accountId, action, accountId],
  );
}

async function finishAction(database: Queries, id: string, error: string | undefined): Promise<void> {
  await database.query('update operator_action set finished_at = clock_timestamp(), error = ? where id = ?', [
    error?.slice(0, maxErrorLength) ?? null,
    id,
  ]);
}

/** Lists actions on one subject or on all subjects, newest first, starting after the action with the id `after`. */
export async function listActions(
  database: Queries,
  {
    subject,
    after,
    limit,
  }: { readonly subject?: string | undefined; readonly after?: string | undefined; readonly limit: number },
): Promise<RecordedAction[]> {
  const rows = await database.query<Columns>(
    `select ${selectedColumns} from operator_action a where (?::text is null or a.subject = ?)
       and (?::uuid is null or (a.created_at, a.id) < (select created_at, id from operator_action where id = ?::uuid))
     order by a.created_at desc, a.id desc limit ?`,
    [subject, subject, after, after, limit].map((value) => value ?? null),
  );
  return rows.map(toAction);
}

/**
 * Lists actions whose process ended while they ran and that have not been repeated since, oldest first.
 *
 * @param range when the actions started, epoch ms; recent ones may still be running
 */
export async function listUnfinishedActions(
  database: Queries,
  range: { readonly since: number; readonly until: number },
  limit: number,
): Promise<RecordedAction[]> {
  const rows = await database.query<Columns>(
    `select ${selectedColumns} from operator_action a
     where a.finished_at is null and a.created_at between to_timestamp(?::float8 / 1000) and to_timestamp(?::float8 / 1000)
       and not exists (select 1 from operator_action b
         where b.subject = a.subject and b.action = a.action and b.created_at > a.created_at)
     order by a.created_at limit ?`,
    [range.since, range.until, limit],
  );
  return rows.map(toAction);
}

export async function removeOldActions(database: Queries, days: number): Promise<void> {
  await database.query('delete from operator_action where created_at < clock_timestamp() - make_interval(days => ?)', [
    days,
  ]);
}

function serializeDetails(details: ActionDetails): string | null {
  const { note: rawNote, ...members } = details;
  const note = String(rawNote ?? '');
  const hasMembers = Object.values(members).some((value) => value !== undefined);
  if (hasMembers || note.trimStart().startsWith('{')) return JSON.stringify(details);
  return note === '' ? null : note;
}

function parseDetails(stored: string | undefined): Pick<RecordedAction, 'note' | 'details'> {
  const { note, ...details } = parseObject(stored ?? '') ?? { note: stored };
  return { note: note === undefined ? undefined : String(note), details };
}

function toAction(row: Columns): RecordedAction {
  const { id, operator, action, subject, note, ...end } = toRecord(row);
  return { id, operator, action, subject, ...parseDetails(note), ...end };
}

import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '#core/platform/database/database.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import type { OperatorActionRow } from './entities.ts';

export const operatorActionNames = [
  'flag.resolve',
  'order.refund',
  'account.block',
  'account.unblock',
  'account.add_days',
  'account.note',
  'account.change_email',
  'account.remove_sign_in',
  'account.move_sign_in',
  'order.check',
  'order.cancel',
  'route.reset',
] as const;

/** What an operator does, on a page, by a command or over the API. */
export interface OperatorAction {
  readonly operator: { readonly id: string; readonly name: string };
  readonly action: (typeof operatorActionNames)[number];
  /** Id of an account or an order, or a route. */
  readonly subject: string;
  /** Why, or how, in the operator's words. */
  readonly note: string | undefined;
}

/** One on record. */
export interface RecordedAction {
  readonly id: string;
  readonly operator: string;
  readonly action: OperatorAction['action'];
  readonly subject: string;
  readonly note: string | undefined;
  readonly createdAt: Date;
  /** `unknown`: the process died meanwhile, or it is still running. */
  readonly outcome: 'done' | 'failed' | 'unknown';
  readonly error: string | undefined;
}

/** Characters kept of an error. */
const longestError = 500;

/**
 * Does what an operator has asked for, and records who did it: before it begins, so that no action goes without a record, and again
 * when it has ended.
 *
 * @throws what `work` throws
 */
export async function recordAction<T>(
  database: Pick<Database, 'query'>,
  { operator, action, subject, note }: OperatorAction,
  work: () => Promise<T>,
): Promise<T> {
  const id = randomUUIDv7();
  await database.query(
    'insert into operator_action (id, operator_id, operator, action, subject, note) values (?, ?, ?, ?, ?, ?)',
    [id, operator.id, operator.name, action, subject, note ?? null],
  );
  try {
    const result = await work();
    await finish(database, id, undefined);
    return result;
  } catch (error) {
    await finish(database, id, error instanceof Error ? error.message : String(error)).catch(() => undefined);
    throw error;
  }
}

async function finish(database: Pick<Database, 'query'>, id: string, error: string | undefined): Promise<void> {
  await database.query('update operator_action set finished_at = clock_timestamp(), error = ? where id = ?', [
    error?.slice(0, longestError) ?? null,
    id,
  ]);
}

/** The newest actions first, of one subject or of all. @param limit at most 500 */
export async function listActions(
  database: Pick<Database, 'query'>,
  { subject, limit }: { readonly subject?: string | undefined; readonly limit: number },
): Promise<RecordedAction[]> {
  const rows = await database.query<ActionRow>(
    `select id, operator, action, subject, note, error, finished_at is not null as is_finished,
       ${epochs('created_at')}
     from operator_action where ?::text is null or subject = ? order by operator_action.created_at desc, id desc limit ?`,
    [subject ?? null, subject ?? null, Math.min(limit, 500)],
  );
  return rows.map(toAction);
}

/** Removes actions that began before so many days. */
export async function removeOldActions(database: Pick<Database, 'query'>, days: number): Promise<void> {
  await database.query('delete from operator_action where created_at < clock_timestamp() - make_interval(days => ?)', [
    days,
  ]);
}

type ActionRow = Row<typeof OperatorActionRow, 'id' | 'operator' | 'subject' | 'note' | 'error' | 'created_at'> & {
  readonly action: OperatorAction['action'];
  readonly is_finished: boolean;
};

function toAction(row: ActionRow): RecordedAction {
  const outcome = row.is_finished ? 'done' : 'unknown';
  return {
    id: row.id,
    operator: row.operator,
    action: row.action,
    subject: row.subject,
    note: row.note ?? undefined,
    createdAt: new Date(row.created_at),
    outcome: row.error === null ? outcome : 'failed',
    error: row.error ?? undefined,
  };
}

import { randomUUIDv7 } from 'node:crypto';
import type { InferEntity } from '@mikro-orm/core';
import type { Database } from '#core/platform/database/database.ts';
import type { OperatorActionRow } from './entities.ts';

const operatorActionNames = [
  'flag.resolve',
  'order.refund',
  'account.block',
  'account.unblock',
  'account.add_days',
  'account.delete',
  'account.note',
  'account.change_email',
  'account.remove_sign_in',
  'account.move_sign_in',
  'order.check',
  'order.cancel',
  'refund.close',
  'books.reconcile',
  'outage.grant_days',
  'outage.credit',
  'outage.decline',
  'announcement.create',
  'announcement.change',
  'announcement.end',
  'route.reset',
  'voucher.create',
  'voucher.revoke',
  'configuration.rollback',
  'configuration.release',
  'configuration.canary_begin',
  'configuration.canary_full',
  'configuration.canary_end',
] as const;

/** What an operator does, on a page, by a command or over the API. */
export interface OperatorAction {
  readonly operator: { readonly id: string; readonly name: string };
  readonly action: (typeof operatorActionNames)[number];
  /**
   * Id of an account or an order, or of a flag without one; a route; a voucher or a batch of them; `outage` for all accounts that one
   * hit, `announcements` for any of them, `books` for those of providers, `configuration` for gateway.yaml.
   */
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

/** Entities are loaded with the database: commands that open none do without MikroORM. */
const loadEntity = async () => (await import('./entities.ts')).OperatorActionRow;

/**
 * Does what an operator has asked for, and records who did it: before it begins, so that no action goes without a record, and again
 * when it has ended.
 *
 * @throws what `work` throws
 */
export async function recordAction<T>(
  database: Pick<Database, 'fork' | 'query'>,
  { operator, action, subject, note }: OperatorAction,
  work: () => Promise<T>,
): Promise<T> {
  const id = randomUUIDv7();
  await database.fork().insert(await loadEntity(), {
    id,
    operatorId: operator.id,
    operator: operator.name,
    action,
    subject,
    note: note ?? null,
  });
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
  database: Pick<Database, 'fork'>,
  { subject, limit }: { readonly subject?: string | undefined; readonly limit: number },
): Promise<RecordedAction[]> {
  const rows = await database.fork().find(await loadEntity(), subject === undefined ? {} : { subject }, {
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit: Math.min(limit, 500),
  });
  return rows.map(toAction);
}

/** Removes actions that began before so many days. */
export async function removeOldActions(database: Pick<Database, 'query'>, days: number): Promise<void> {
  await database.query('delete from operator_action where created_at < clock_timestamp() - make_interval(days => ?)', [
    days,
  ]);
}

function toAction(row: InferEntity<typeof OperatorActionRow>): RecordedAction {
  const outcome = row.finishedAt === null ? 'unknown' : 'done';
  return {
    id: row.id,
    operator: row.operator,
    action: row.action as OperatorAction['action'],
    subject: row.subject,
    note: row.note ?? undefined,
    createdAt: row.createdAt,
    outcome: row.error === null ? outcome : 'failed',
    error: row.error ?? undefined,
  };
}

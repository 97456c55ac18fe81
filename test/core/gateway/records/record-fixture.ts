import { randomUUID } from 'node:crypto';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import type { Database } from '#core/platform/database/database.ts';
import { PostgresRecordStore } from '../../../../plugins/log/record-store.ts';

export const hour = 3_600_000; // ms
export const day = 24 * hour;
/** Midnight in UTC. */
export const today = Date.UTC(2031, 4, 12);

/** An account with records that the `log` plugin has written; no two tests share one. */
export class RecordBook {
  readonly database: Database;
  readonly accountId = randomUUID();

  constructor(database: Database) {
    this.database = database;
  }

  /** Writes a record for each of these, and returns their ids. */
  async write(...records: Partial<RequestRecord>[]): Promise<string[]> {
    const whole = records.map((record) => {
      const { started_at = today } = record;
      return {
        id: createRequestId(started_at),
        started_at,
        account_id: this.accountId,
        method: 'POST',
        path: '/v1/chat/completions',
        endpoint: 'chat',
        is_metered: true,
        model: 'gpt-6-sol',
        outcome: 'answered',
        status: 200,
        ...record,
      };
    });
    const lines = whole.map((record) => JSON.stringify(record));
    await new PostgresRecordStore(this.database).insert('test', lines);
    return whole.map(({ id }) => id);
  }
}

/** The plan of a statement: of the last one that matches; the others run. */
export async function explain(
  database: Database,
  run: (database: Pick<Database, 'query'>) => unknown,
  matching = /(?:)/,
): Promise<string> {
  let plan = '';
  const explaining: Pick<Database, 'query'> = {
    async query(sql, parameters) {
      if (!matching.test(sql)) return database.query(sql, parameters);
      const rows = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, parameters);
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      return [];
    },
  };
  await run(explaining);
  return plan;
}

/** How many records were read that statements do not return, because they did not match. */
export async function countMisread(
  database: Database,
  run: (database: Pick<Database, 'query'>) => unknown,
): Promise<number> {
  let misread = 0;
  await run({
    async query<Row>(sql: string, parameters?: readonly unknown[]) {
      if (!sql.includes('FROM request_log')) return database.query<Row>(sql, parameters);
      const rows = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, TIMING OFF) ${sql}`, parameters);
      for (const row of rows) misread += Number(/Rows Removed by .*: (\d+)/.exec(row['QUERY PLAN'])?.[1] ?? 0);
      return database.query<Row>(sql, parameters);
    },
  });
  return misread;
}

/** The partitions of `request_log` that PostgreSQL would read for a statement. */
export async function partitionsOf(
  database: Database,
  run: (database: Pick<Database, 'query'>) => unknown,
): Promise<Set<string>> {
  return new Set((await explain(database, run)).match(/request_log_\d{8}\b(?!_)/g));
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import {
  dropPartitionsBefore,
  ensurePartition,
  partitionJob,
  listPartitionNames,
} from '../../../plugins/log/partitions.ts';
import { createTestDatabase } from '../../support/database.ts';
import { TestHost } from './database-fixture.ts';

const day = 86_400_000; // ms
let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('partitions', () => {
  it('are created for yesterday, today and a week ahead, and dropped after keep_days', async () => {
    const now = Date.UTC(2025, 4, 31, 12);
    await using test = new TestHost(database, () => now);
    test.createStage().activate?.();
    for (const age of [29, 30, 31, 32, 400]) await ensurePartition(database, now - (now % day) - age * day);
    await partitionJob.run({}, test.host);
    // Other tests of this file have days of their own.
    const names = (await listPartitionNames(database)).filter((name) => /_2025(0[4-6])\d\d$/.test(name));
    expect(names.map((name) => name.slice(-8))).toEqual([
      '20250501',
      '20250502',
      '20250530',
      '20250531',
      '20250601',
      '20250602',
      '20250603',
      '20250604',
      '20250605',
      '20250606',
      '20250607',
    ]);
    expect(test.log.lines.at(-1)).toMatch(/^info dropped expired request records of .*20240426, 20250429, 20250430$/);
  });

  it('are kept by a gateway whose clock is ahead of that of the database', async () => {
    const today = Math.floor(Date.now() / day) * day;
    await using test = new TestHost(database, () => today + 5_000 * day);
    test.createStage().activate?.();
    await ensurePartition(database, today - 5 * day);
    await partitionJob.run({}, test.host);
    const kept = new Date(today - 5 * day).toISOString().slice(0, 10).replaceAll('-', '');
    expect(await listPartitionNames(database)).toContain(`request_log_${kept}`);
  });

  it('are not dropped without a log stage', async () => {
    const now = Date.UTC(2032, 0, 1);
    await using test = new TestHost(database, () => now);
    await ensurePartition(database, now - 100 * day);
    await partitionJob.run({}, test.host);
    expect(await listPartitionNames(database)).toContain('request_log_20310923');
  });

  it('can be created by several instances at once', async () => {
    const start = Date.UTC(2033, 0, 1);
    await Promise.all(Array.from({ length: 8 }, () => ensurePartition(database, start)));
    expect(await listPartitionNames(database)).toContain('request_log_20330101');
  });

  it('have the indexes of the table', async () => {
    await ensurePartition(database, Date.UTC(2034, 0, 1));
    const rows = await database.query<{ definition: string }>(
      `SELECT indexdef AS definition FROM pg_indexes WHERE tablename = 'request_log_20340101' ORDER BY 1`,
    );
    expect(new Set(rows.map(({ definition }) => definition.replace(/.* USING /, '')))).toEqual(
      new Set([
        'btree (account_id, COALESCE(alias_of, model), started_at DESC)',
        'btree (account_id, route, started_at DESC)',
        'btree (account_id, started_at DESC)',
        ...[
          'has_failover',
          "(cache = 'hit'::text)",
          "(outcome = 'aborted'::text)",
          '(status <> 200)',
          "(outcome = ANY (ARRAY['refused'::text, 'failed'::text, 'interrupted'::text]))",
        ].map((rare) => `btree (account_id, started_at DESC, status, COALESCE(alias_of, model)) WHERE ${rare}`),
        "btree (started_at DESC, id DESC, status, outcome, has_failover, cache, route, COALESCE(alias_of, model)) WHERE COALESCE(((status <> 200) OR (outcome <> 'answered'::text) OR has_failover), false)",
        'btree (started_at DESC) WHERE is_other_model',
        'btree (started_at, id)',
      ]),
    );
  });

  it('stop waiting behind a long reader after a second', async () => {
    const start = Date.UTC(2023, 0, 1);
    await ensurePartition(database, start);
    const reader = database.fork();
    await reader.transactional(async (transaction) => {
      await transaction.execute('SELECT count(*) FROM request_log');
      await expect(dropPartitionsBefore(database, start + day)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await dropPartitionsBefore(database, start + day)).toEqual(['20230101']);
  });
});

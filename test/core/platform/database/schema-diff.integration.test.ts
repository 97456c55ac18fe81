import { tmpdir } from 'node:os';
import type { SqlSchemaGenerator } from '@mikro-orm/sql';
import { afterEach, describe, expect, it } from 'vitest';
import { assemble } from '#core/extension/assembly.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';

const urls: string[] = [];
afterEach(async () => {
  for (const url of urls.splice(0)) await dropDatabase(url);
});

/** A database with the tables of core and of every plugin. */
async function open(): Promise<Database> {
  const { registry } = await assemble(undefined, silentLog, () => {
    throw new Error('nothing runs');
  });
  const url = await createBareDatabase();
  urls.push(url);
  const tables = registry.databaseTables.values();
  const options = { url, dataFolder: tmpdir(), log: silentLog, mode: 'command', isShared: true } as const;
  return openDatabase({ ...options, entities: coreEntities, tables });
}

/** Statements that would make the database what the entities say. */
async function diff(database: Database): Promise<string[]> {
  const generator = database.fork().config.getExtension<SqlSchemaGenerator>('@mikro-orm/schema-generator');
  const sql = await generator?.getUpdateSchemaSQL();
  return (sql ?? 'no generator')
    .split(/;\n+/)
    .filter((statement) => statement !== '' && !statement.startsWith('set names'));
}

describe('entities and the migrated database', () => {
  it('say the same of every table, column, index, check and foreign key', async () => {
    await using database = await open();
    expect(await diff(database)).toEqual([
      // The ledger does not know the entities of orders, which build on it.
      'alter table "plan_period" drop constraint "plan_period_order_id_fkey"',
      // MikroORM misreads casts to double precision, with which PostgreSQL stores this check.
      'alter table "incident" drop constraint "incident_lowest_answered_check"',
    ]);
  });

  it.each([
    ['a column', 'alter table identity add phone text', /drop column "phone"/],
    ['a default', `alter table session alter user_agent set default 'none'`, /set default ''/],
    ['the type of a column', 'alter table request_log alter bytes_in type integer', /type bigint/],
    ['an index', 'drop index mail_message_due', /create index "mail_message_due"/],
    ['a check', 'alter table plan_order drop constraint plan_order_price_check', /check \(price > 0\)/],
    ['a foreign key', 'alter table refund drop constraint refund_order_id_fkey', /foreign key \("order_id"\)/],
    ['a table', 'create table forgotten (id uuid primary key)', /drop table if exists "forgotten"/],
  ])('differ by %s that only one of them has', async (_difference, change, repair) => {
    await using changed = await open();
    await changed.query(change);
    expect(await diff(changed)).toContainEqual(expect.stringMatching(repair));
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { findDifferences } from '../../../../.ci/entity-rules.ts';
import { createTestDatabase } from '../../../support/database.ts';

const changes = [
  ['a column', 'alter table identity add phone text', /drop column "phone"/],
  ['a default', `alter table session alter user_agent set default 'none'`, /set default ''/],
  ['the type of a column', 'alter table request_log alter bytes_in type integer', /type bigint/],
  ['an index', 'drop index session_last_use', /create index "session_last_use"/],
  ['a check', 'alter table plan_order drop constraint plan_order_price_check', /check \(price > 0\)/],
  ['a foreign key', 'alter table refund drop constraint refund_order_id_fkey', /foreign key \("order_id"\)/],
  ['a table', 'create table forgotten (id uuid primary key)', /drop table if exists "forgotten"/],
] as const;

describe('the difference of entities and database', () => {
  let statements: string[];
  beforeAll(async () => {
    await using database = await createTestDatabase();
    for (const [, change] of changes) await database.query(change);
    statements = await findDifferences(database);
  });

  it.each(changes)('contains %s that only one of them has', (_difference, _change, repair) => {
    expect(statements).toContainEqual(expect.stringMatching(repair));
  });
});

import { expect, it } from 'vitest';
import { createTestDatabase, silentLog } from '../../../support/database.ts';
import { tablesHere } from '../../../support/registered.ts';

/** Columns by which nothing is looked up, with the reason. */
const exempt = new Map([
  ['outage_credit.period_id', 'a credit is found by its outage, and entries of the ledger are never deleted'],
]);

// A lookup without an index reads the whole table: in a shop, a table of all orders, payments or periods that there ever were.
it('each reference of a row to another table has an index that finds the rows by it', async () => {
  await using database = await createTestDatabase(silentLog, await tablesHere());
  const rows = await database.query<{ column: string }>(
    `select c.conrelid::regclass || '.' || a.attname as column
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and not exists (
       select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = a.attnum
         and coalesce(pg_get_expr(i.indpred, i.indrelid), '') in ('', format('(%I IS NOT NULL)', a.attname)))`,
  );
  expect(rows.map(({ column }) => column).toSorted()).toEqual([...exempt.keys()]);
});

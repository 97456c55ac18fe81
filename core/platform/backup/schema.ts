import type pg from 'pg';
import { migrationTable } from '../database/migration-files.ts';
import { quoteName } from '../database/rows.ts';
import type { BackupSchema, BackupTable } from './frames.ts';

interface TableRow {
  readonly name: string;
  readonly columns: string[];
  readonly parent: string | null;
  readonly bound: string | null;
}

/** Expression for the OID of the tables' schema, which may not be the first in the search path. */
const schemaOid = `(select relnamespace from pg_class where oid = to_regclass('${migrationTable}'))`;

/** Selects the tables that contain rows: partitions instead of their parents. The job queue is in a schema of its own. */
const selectTables = `
  select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound,
    array(select a.attname::text from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
  where c.relnamespace = ${schemaOid} and c.relkind = 'r' and c.relname <> '${migrationTable}'
  order by c.relname`;

const selectReferences = `
  select distinct f.relname as "from", t.relname as "to" from pg_constraint c
  join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid
  where c.contype = 'f' and c.connamespace = ${schemaOid}`;

export async function readSchema(client: pg.Client): Promise<BackupSchema> {
  const migrations = await client.query<{ name: string }>(`select name from ${migrationTable} order by id`);
  const tables = await client.query<TableRow>(selectTables);
  const references = await client.query<{ from: string; to: string }>(selectReferences);
  return {
    migrations: migrations.rows.map(({ name }) => name),
    tables: sortByReferences(tables.rows, references.rows),
  };
}

/** Sorts referenced tables first. A partition has its parent's references. Only references from a table to itself may form a cycle. */
function sortByReferences(
  tables: readonly TableRow[],
  references: readonly { readonly from: string; readonly to: string }[],
): BackupTable[] {
  const groups = Map.groupBy(tables, ({ name, parent }) => parent ?? name);
  const ordered: TableRow[] = [];
  const visited = new Set<string>();
  const visit = (name: string) => {
    if (visited.has(name)) return;
    visited.add(name);
    for (const { from, to } of references) if (from === name) visit(to);
    ordered.push(...(groups.get(name) ?? []));
  };
  for (const name of groups.keys()) visit(name);
  return ordered.map(({ name, columns, parent, bound }) => ({
    name,
    columns,
    ...(parent !== null && bound !== null && { partition: { of: parent, bound } }),
  }));
}

/** Reads the last values of sequences by name. Unused sequences are omitted. */
export async function readSequences(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select sequencename as name, last_value::text as value from pg_sequences
     where schemaname::regnamespace = ${schemaOid} and last_value is not null`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Returns `"name" ("column", …)`. */
export function quoteTable({ name, columns }: BackupTable): string {
  return `${quoteName(name)} (${columns.map(quoteName).join(', ')})`;
}

/** Session settings that both sides of a COPY must share. */
export const copySession = `set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 1;
  set bytea_output = 'hex'; set client_encoding = 'UTF8'; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0`;

import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';
import type { Database } from '#core/platform/database/database.ts';
import type { PersonalOption } from '#core/platform/database/personal.ts';

/** A column with data about a customer. */
export interface PersonalColumn extends Pick<PersonalOption, 'replacement' | 'isHidden' | 'isRetained'> {
  readonly name: string;
}

/** A table with columns about customers, of core or of a plugin. */
export interface PersonalTable {
  readonly name: string;
  readonly key: readonly string[];
  /** SQL condition for the rows of an account; its only parameter is the account's id. */
  readonly ofAccount: string;
  /** True if rows are written only while their account exists. */
  readonly isBound: boolean;
  readonly columns: readonly PersonalColumn[];
  /** `delete`: a column to remove cannot be null. `none`: all columns are retained. */
  readonly removal: 'delete' | 'update' | 'none';
}

type Property = EntityProperty & PersonalOption;

/**
 * Returns the tables with personal columns, as declared by the entities.
 *
 * @throws Error naming the table that does not declare its rows' owner
 */
export function personalTables(database: Pick<Database, 'fork'>): PersonalTable[] {
  const all = database.fork().getMetadata().getAll();
  return [...all.values()].flatMap((meta) => {
    const personal = (meta.props as Property[]).filter(({ isPersonal }) => isPersonal === true);
    return personal.length === 0 ? [] : [describe(meta, personal)];
  });
}

/** Records the tables in the database at each start, so that they are cleaned even after their capability is removed. */
export async function rememberPersonalTables(database: Pick<Database, 'fork' | 'query'>): Promise<void> {
  await database.query(
    `insert into personal_table (name, description)
     select entry ->> 'name', entry from jsonb_array_elements(?::jsonb) entry
     on conflict (name) do update set description = excluded.description
     where personal_table.description <> excluded.description`,
    [JSON.stringify(personalTables(database))],
  );
}

/** Returns personal tables, including recorded ones that no entity declares any more, if they still match their description. */
export async function everyPersonalTable(database: Pick<Database, 'fork' | 'query'>): Promise<PersonalTable[]> {
  const declared = [...database.fork().getMetadata().getAll().values()].map(({ tableName }) => tableName);
  const recorded = await database.query<{ description: PersonalTable; present: string[] }>(
    `select description, array_agg(attname::text) as present
     from personal_table join pg_attribute on attrelid = to_regclass(format('%I', name)) and attnum > 0 and not attisdropped
     where name not in (select jsonb_array_elements_text(?::jsonb)) group by personal_table.name`,
    [JSON.stringify(declared)],
  );
  const tables = recorded
    .map(({ description, present }) => ({
      ...description,
      columns: description.columns.filter(({ name }) => present.includes(name)),
    }))
    .filter(({ removal, columns }) => removal === 'delete' || columns.length > 0);
  const usable = await Promise.all(tables.map((table) => isAsDescribed(database, table)));
  return [...personalTables(database), ...tables.filter((_, index) => usable[index])];
}

/** False if a migration has renamed the columns that name the rows' owner. */
async function isAsDescribed(
  database: Pick<Database, 'query'>,
  { name, key, ofAccount }: PersonalTable,
): Promise<boolean> {
  const keys = key.map(quoteName).join(', ');
  try {
    await database.query(`select ${keys} from ${quoteName(name)} where ${ofAccount} limit 0`, [noAccount]);
    return true;
  } catch (error) {
    if (missingCodes.has((error as { code?: unknown }).code)) return false;
    throw error;
  }
}

const noAccount = '00000000-0000-0000-0000-000000000000';
const missingCodes: ReadonlySet<unknown> = new Set(['42703', '42P01']); // undefined column, undefined table

/** Quotes an SQL identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function describe(meta: EntityMetadata, personal: readonly Property[]): PersonalTable {
  const ofAccount = personal.find((column) => column.ofAccount !== undefined)?.ofAccount ?? conditionFor(meta);
  if (ofAccount === undefined)
    throw new Error(
      `the table ${meta.tableName} has personal columns, but neither a column account_id nor a relation to one`,
    );
  return {
    name: meta.tableName,
    key: columnsOf(meta.getPrimaryProps()),
    ofAccount,
    isBound:
      meta.tableName === 'account' || meta.relations.some(({ targetMeta }) => targetMeta?.tableName === 'account'),
    columns: personal.map(({ fieldNames, replacement, isHidden, isRetained }) => ({
      name: fieldNames[0] as string,
      ...(replacement !== undefined && { replacement }),
      ...(isHidden !== undefined && { isHidden }),
      ...(isRetained !== undefined && { isRetained }),
    })),
    removal: removalOf(personal.filter(({ isRetained }) => isRetained !== true)),
  };
}

function removalOf(removed: readonly Property[]): PersonalTable['removal'] {
  if (removed.length === 0) return 'none';
  return removed.every(({ nullable, replacement }) => nullable || replacement !== undefined) ? 'update' : 'delete';
}

function conditionFor(meta: EntityMetadata): string | undefined {
  if (meta.tableName === 'account') return 'id = ?';
  if (meta.props.some(({ fieldNames }) => fieldNames?.includes('account_id'))) return 'account_id = ?';
  for (const { targetMeta, fieldNames, kind } of meta.relations) {
    // Compared by name: the metadata of a relation to the table itself is another object.
    if (targetMeta === undefined || targetMeta.tableName === meta.tableName || kind !== 'm:1') continue;
    const nested = conditionFor(targetMeta);
    if (nested === undefined) continue;
    const target = columnsOf(targetMeta.getPrimaryProps());
    return `(${fieldNames.join(', ')}) in (select ${target.join(', ')} from ${targetMeta.tableName} where ${nested})`;
  }
  return undefined;
}

function columnsOf(properties: readonly EntityProperty[]): string[] {
  return properties.flatMap(({ fieldNames }) => fieldNames);
}

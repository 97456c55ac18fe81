import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import type { PersonalOption } from '#core/platform/database/personal.ts';
import { quoteName } from '#core/platform/database/rows.ts';

/** A column that holds data about a customer. */
export interface PersonalColumn extends Pick<PersonalOption, 'replacement' | 'isHidden' | 'isRetained'> {
  readonly name: string;
}

export interface PersonalTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly ofAccount: string; // SQL condition for an account's rows; its only parameter is the account's id
  readonly isBound: boolean; // rows can be written only while their account exists
  readonly columns: readonly PersonalColumn[];
  /** `delete`: whole rows are deleted, because a personal column is not nullable. `none`: all columns are retained. */
  readonly removal: 'delete' | 'update' | 'none';
}

type Property = EntityProperty & PersonalOption;

/** @throws Error if a table does not declare who owns its rows */
export function describePersonalTables(database: Transactions): PersonalTable[] {
  const entities = database.fork().getMetadata().getAll();
  return [...entities.values()].flatMap((meta) => {
    const personalProperties = (meta.props as Property[]).filter(({ isPersonal }) => isPersonal === true);
    return personalProperties.length === 0 ? [] : [describeTable(meta, personalProperties)];
  });
}

/** Records the descriptions in the database at each start, so that tables can still be cleaned after their plugin is removed. */
export async function recordPersonalTables(database: Queries & Transactions): Promise<void> {
  await database.query(
    `insert into personal_table (name, description)
     select entry ->> 'name', entry from jsonb_array_elements(?::jsonb) entry
     on conflict (name) do update set description = excluded.description
     where personal_table.description <> excluded.description`,
    [JSON.stringify(describePersonalTables(database))],
  );
}

/**
 * Reads all personal tables, including those that no entity declares any more, provided that they still match their recorded description.
 */
export async function readPersonalTables(database: Queries & Transactions): Promise<PersonalTable[]> {
  const declaredNames = [...database.fork().getMetadata().getAll().values()].map(({ tableName }) => tableName);
  const recordedTables = await database.query<{ description: PersonalTable; present: string[] }>(
    `select description, array_agg(attname::text) as present
     from personal_table join pg_attribute on attrelid = to_regclass(format('%I', name)) and attnum > 0 and not attisdropped
     where name not in (select jsonb_array_elements_text(?::jsonb)) group by personal_table.name`,
    [JSON.stringify(declaredNames)],
  );
  const tables = recordedTables
    .map(({ description, present }) => ({
      ...description,
      columns: description.columns.filter(({ name }) => present.includes(name)),
    }))
    .filter(({ removal, columns }) => removal === 'delete' || columns.length > 0);
  const areValid = await Promise.all(tables.map((table) => isAsDescribed(database, table)));
  return [...describePersonalTables(database), ...tables.filter((_, index) => areValid[index])];
}

const unknownAccountId = '00000000-0000-0000-0000-000000000000';
const missingColumnOrTable: ReadonlySet<unknown> = new Set(['42703', '42P01']); // PostgreSQL error codes

async function isAsDescribed(database: Queries, { name, key, ofAccount }: PersonalTable): Promise<boolean> {
  const keys = key.map(quoteName).join(', ');
  try {
    await database.query(`select ${keys} from ${quoteName(name)} where ${ofAccount} limit 0`, [unknownAccountId]);
    return true;
  } catch (error) {
    // A migration has renamed a column that identifies a row's owner.
    if (missingColumnOrTable.has((error as { code?: unknown }).code)) return false;
    throw error;
  }
}

function describeTable(meta: EntityMetadata, properties: readonly Property[]): PersonalTable {
  const ofAccount = properties.find((column) => column.ofAccount !== undefined)?.ofAccount ?? findOwnerCondition(meta);
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
    columns: properties.map(({ fieldNames, replacement, isHidden, isRetained }) => ({
      name: fieldNames[0] as string,
      ...(replacement !== undefined && { replacement }),
      ...(isHidden !== undefined && { isHidden }),
      ...(isRetained !== undefined && { isRetained }),
    })),
    removal: chooseRemoval(properties.filter(({ isRetained }) => isRetained !== true)),
  };
}

function chooseRemoval(removable: readonly Property[]): PersonalTable['removal'] {
  if (removable.length === 0) return 'none';
  return removable.every(({ nullable, replacement }) => nullable || replacement !== undefined) ? 'update' : 'delete';
}

function findOwnerCondition(meta: EntityMetadata): string | undefined {
  if (meta.tableName === 'account') return 'id = ?';
  if (meta.props.some(({ fieldNames }) => fieldNames?.includes('account_id'))) return 'account_id = ?';
  for (const { targetMeta, fieldNames, kind } of meta.relations) {
    // Compared by name, because a relation to the same table has a different metadata object.
    if (targetMeta === undefined || targetMeta.tableName === meta.tableName || kind !== 'm:1') continue;
    const targetCondition = findOwnerCondition(targetMeta);
    if (targetCondition === undefined) continue;
    const targetKey = columnsOf(targetMeta.getPrimaryProps()).join(', ');
    return `(${fieldNames.join(', ')}) in (select ${targetKey} from ${targetMeta.tableName} where ${targetCondition})`;
  }
  return undefined;
}

function columnsOf(properties: readonly EntityProperty[]): string[] {
  return properties.flatMap(({ fieldNames }) => fieldNames);
}

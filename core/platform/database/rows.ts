import type { EntitySchemaWithMeta, InferKyselyTable } from '@mikro-orm/postgresql';

/**
 * Row of a table as returned by our SQL: times as epoch ms (see `epoch`), large numbers as `float8`. Import the entity as a type only, so
 * that MikroORM is not loaded: `Row<typeof Session, 'id' | 'created_at'>`.
 */
export type Row<Entity extends EntitySchemaWithMeta, Column extends keyof InferKyselyTable<Entity>> = {
  readonly [Name in Column]: RowValue<InferKyselyTable<Entity>[Name]>;
};

/** A `Row` of all columns of a table, except for these. */
export type RowWithout<Entity extends EntitySchemaWithMeta, Column extends keyof InferKyselyTable<Entity>> = Row<
  Entity,
  Exclude<keyof InferKyselyTable<Entity>, Column>
>;

/** Like `Row`, with the entity's property names, for statements that select `provider_reference as "providerReference"`. */
export type Fields<Entity extends EntitySchemaWithMeta, Field extends keyof TableByField<Entity>> = {
  readonly [Name in Field]: RowValue<TableByField<Entity>[Name]>;
};
type TableByField<Entity extends EntitySchemaWithMeta> = InferKyselyTable<Entity, { columnNamingStrategy: 'property' }>;

type RowValue<Column> = Column extends { readonly __select__: infer Selected }
  ? TimeAsNumber<Selected>
  : TimeAsNumber<Column>;
type TimeAsNumber<Column> = Column extends Date ? number : Column;

/**
 * A row for use outside SQL: `order_id` becomes `orderId`, null becomes undefined, and times (epoch ms in columns ending in `_at` or
 * `_until`) become dates.
 */
export type RecordOf<Columns> = {
  readonly [Name in keyof Columns & string as CamelCase<Name>]: FieldValue<Name, Columns[Name]>;
};
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type FieldValue<Name, Column> = Column extends null
  ? undefined
  : Name extends `${string}_${'at' | 'until'}`
    ? Date
    : Column;

/**
 * Row from which `toRecord` makes a record: `orderId` comes from `order_id`. Columns of the entity have the entity's types, so a record
 * that contradicts the table does not compile. Computed columns have the types of the record.
 */
export type RowOf<Result, Entity extends EntitySchemaWithMeta> = {
  readonly [Name in keyof Result & string as SnakeCase<Name>]: SnakeCase<Name> extends keyof InferKyselyTable<Entity>
    ? RowValue<InferKyselyTable<Entity>[SnakeCase<Name>]>
    : ColumnValue<Result[Name]>;
};
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;
type ColumnValue<Value> = Value extends Date ? number : Value extends undefined ? null : Value;

const timeColumn = /_(?:at|until)$/;

export function toRecord<Columns extends object>(row: Columns): RecordOf<Columns> {
  const fields = Object.entries(row).map(([name, value]) => [
    name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    typeof value === 'number' && timeColumn.test(name) ? new Date(value) : (value ?? undefined),
  ]);
  return Object.fromEntries(fields) as RecordOf<Columns>;
}

/**
 * SQL for the earlier of the two clocks; its placeholder takes the instance's time. Used to decide what has expired and is deleted, because
 * deletion is final and one clock may be ahead.
 */
export const earlierClockSql = 'least(?::timestamptz, clock_timestamp())';

/** Returns the SQL for a time as epoch ms, independent of the session's time zone and date style. */
export function epoch(expression: string): string {
  return `(extract(epoch from ${expression}) * 1000)::float8`;
}

/** Like `epoch`, for columns that keep their names: `o.paid_at` as `paid_at`. */
export function epochs(...columns: readonly string[]): string {
  return columns.map((column) => `${epoch(column)} as ${column.slice(column.indexOf('.') + 1)}`).join(', ');
}

/** Returns the SQL for the columns of a `Row`. Columns ending in `_at` and `_until` are selected as epoch ms. */
export function selectColumns(columns: readonly string[]): string {
  return columns.map((column) => (timeColumn.test(column) ? epochs(column) : column)).join(', ');
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

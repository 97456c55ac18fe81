import type { EntitySchemaWithMeta, InferKyselyTable } from '@mikro-orm/postgresql';

/**
 * Row of a table as returned by SQL here: times as epoch ms, by `epoch` or `epochs`; large numbers as `float8`. Pass the entity as a type
 * only, so that MikroORM is not loaded: `Row<typeof Session, 'id'
 * 'created_at'>`.
 */
export type Row<Entity extends EntitySchemaWithMeta, Column extends keyof InferKyselyTable<Entity>> = {
  readonly [Name in Column]: Value<InferKyselyTable<Entity>[Name]>;
};

/** Like `Row`, with the entity's property names, for statements that select `provider_reference as "providerReference"`. */
export type Fields<Entity extends EntitySchemaWithMeta, Field extends keyof ByField<Entity>> = {
  readonly [Name in Field]: Value<ByField<Entity>[Name]>;
};
type ByField<Entity extends EntitySchemaWithMeta> = InferKyselyTable<Entity, { columnNamingStrategy: 'property' }>;

type Value<Given> = Given extends { readonly __select__: infer Selected } ? Time<Selected> : Time<Given>;
type Time<Given> = Given extends Date ? number : Given;

/**
 * A row as used by other code: `order_id` as `orderId`, undefined instead of null, and times (columns ending in `_at` or `_until`, in epoch
 * ms) as dates.
 */
export type RecordOf<Columns> = {
  readonly [Name in keyof Columns & string as CamelCase<Name>]: Read<Name, Columns[Name]>;
};
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type Read<Name, Given> = Given extends null ? undefined : Name extends `${string}_${'at' | 'until'}` ? Date : Given;

const timeName = /_(?:at|until)$/;

export function toRecord<Columns extends object>(row: Columns): RecordOf<Columns> {
  const fields = Object.entries(row).map(([name, value]) => [
    name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    typeof value === 'number' && timeName.test(name) ? new Date(value) : (value ?? undefined),
  ]);
  return Object.fromEntries(fields) as RecordOf<Columns>;
}

/** Returns the SQL for a time as epoch ms, independent of the session's time zone and date style. */
export function epoch(expression: string): string {
  return `(extract(epoch from ${expression}) * 1000)::float8`;
}

/** Like `epoch`, for columns that keep their names: `o.paid_at` as `paid_at`. */
export function epochs(...columns: readonly string[]): string {
  return columns.map((column) => `${epoch(column)} as ${column.slice(column.indexOf('.') + 1)}`).join(', ');
}

/**
 * Returns the SQL for the columns of a `Row`; those ending in `_at` and `_until` are times.
 *
 * @param alias of the table
 */
export function selected(columns: readonly string[], alias?: string): string {
  const names = columns.map((column) => (alias === undefined ? column : `${alias}.${column}`));
  return names.map((name) => (timeName.test(name) ? epochs(name) : name)).join(', ');
}

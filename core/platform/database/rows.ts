import type { EntitySchemaWithMeta, InferKyselyTable } from '@mikro-orm/postgresql';

/**
 * Columns of a table as SQL returns them here: times as epoch ms, by `epoch` or `epochs`; large numbers as `float8`. Give the entity as
 * a type, so that nothing loads MikroORM: `Row<typeof Session, 'id' | 'created_at'>`.
 */
export type Row<Entity extends EntitySchemaWithMeta, Column extends keyof InferKyselyTable<Entity>> = {
  readonly [Name in Column]: Value<InferKyselyTable<Entity>[Name]>;
};

/** The same with the names of the entity, for statements that select `provider_reference as "providerReference"`. */
export type Fields<Entity extends EntitySchemaWithMeta, Field extends keyof ByField<Entity>> = {
  readonly [Name in Field]: Value<ByField<Entity>[Name]>;
};
type ByField<Entity extends EntitySchemaWithMeta> = InferKyselyTable<Entity, { columnNamingStrategy: 'property' }>;

/** Without the mark of columns that an insert may leave out. */
type Value<Given> = Given extends { readonly __select__: infer Selected } ? Time<Selected> : Time<Given>;
type Time<Given> = Given extends Date ? number : Given;

/** A time as epoch ms, whatever the session's time zone and date style. */
export function epoch(expression: string): string {
  return `(extract(epoch from ${expression}) * 1000)::float8`;
}

/** The same for columns, each under its own name: `o.paid_at` as `paid_at`. */
export function epochs(...columns: readonly string[]): string {
  return columns.map((column) => `${epoch(column)} as ${column.slice(column.indexOf('.') + 1)}`).join(', ');
}

import { type Options, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';

/** Names indexes and constraints like PostgreSQL, whose default names the migrations use. */
export class GatewayNaming extends UnderscoreNamingStrategy {
  override indexName(...parameters: Parameters<UnderscoreNamingStrategy['indexName']>): string {
    return super
      .indexName(...parameters)
      .replace(/_unique$/, '_key')
      .replace(/_foreign$/, '_fkey');
  }
}

/**
 * Parts of the schema that entities cannot express, so that a diff of entities and database must ignore them: daily partitions, triggers,
 * functions, the migration table, and the schema of BullMQ, which migrates it itself. Two more constraints are listed in
 * .ci/entity-rules.ts.
 */
export const schemaGenerator = {
  ignoreSchema: ['bullmq'],
  ignoreTriggers: true,
  ignoreRoutines: true,
  skipTables: ['migration', /^request_(log|content)_\d+$/],
} satisfies Options['schemaGenerator'];

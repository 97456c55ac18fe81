import { type Options, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';

/** Gives indexes and constraints PostgreSQL's default names, which the migrations use. */
export class GatewayNaming extends UnderscoreNamingStrategy {
  override indexName(...parameters: Parameters<UnderscoreNamingStrategy['indexName']>): string {
    return super
      .indexName(...parameters)
      .replace(/_unique$/, '_key')
      .replace(/_foreign$/, '_fkey');
  }
}

/**
 * Parts of the schema that a diff between entities and database must ignore, because entities cannot express them: daily partitions,
 * triggers, functions, the migration table, and the schema of BullMQ, which migrates itself. .ci/entity-rules.ts has two more.
 */
export const schemaGenerator = {
  ignoreSchema: ['bullmq'],
  ignoreTriggers: true,
  ignoreRoutines: true,
  skipTables: ['migration', /^request_(log|content)_\d+$/],
} satisfies Options['schemaGenerator'];

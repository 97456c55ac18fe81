/**
 * Checks that every text column of an entity says whether it is personal, that docs/security.md lists the personal ones, and that a
 * migrated database matches the entities. Starts the embedded PostgreSQL in a temporary folder, or uses TEST_DATABASE_URL.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble } from '#core/extension/assembly.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { coreEntities } from '#core/process/entities.ts';
import { startPostgres, withDatabase } from '../test/support/global-postgres.ts';
import {
  expectedDifferences,
  findDifferences,
  findUndecidedColumns,
  findUndocumentedColumns,
  readEntities,
} from './entity-rules.ts';

const log = { info: () => undefined, warn: console.warn, error: console.error };
const tables = await pluginTables();
const ofPlugins = tables.map(({ entities }) => (typeof entities === 'function' ? entities() : entities));
const entities = [...coreEntities, ...(await Promise.all(ofPlugins)).flat()];
const orm = await readEntities(entities);
const documentation = readFileSync(join(import.meta.dirname, '../docs/security.md'), 'utf8');
const differences = await compareWithDatabase();

const mistakes = [
  ...findUndecidedColumns(orm).map((column) => `${column}: mark it as personal() or impersonal() in its entity`),
  ...findUndocumentedColumns(orm, documentation).map((change) => `docs/security.md: ${change}`),
  ...differences
    .filter((statement) => !expectedDifferences.includes(statement))
    .map((statement) => `entities and migrations differ: "${statement}" would make the database what the entities say`),
  ...expectedDifferences
    .filter((statement) => !differences.includes(statement))
    .map((statement) => `.ci/entity-rules.ts: "${statement}" is no longer a difference; remove it`),
];
for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`entities: ${entities.length} tables as migrated, personal columns marked and documented`);

async function pluginTables(): Promise<PluginTables[]> {
  const { registry } = await assemble(undefined, log, () => {
    throw new Error('there is no host: nothing runs');
  });
  return [...registry.databaseTables.values()];
}

async function compareWithDatabase(): Promise<string[]> {
  await using postgres = await startPostgres();
  await using database = await openDatabase({
    url: withDatabase(postgres.url, postgres.templateDatabase),
    dataFolder: tmpdir(),
    log,
    mode: 'command',
    isShared: true,
    entities: coreEntities,
    tables,
  });
  return await findDifferences(database);
}

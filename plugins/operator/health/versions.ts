import { readFileSync } from 'node:fs';
import type { Database } from '#core/platform/database/database.ts';

const file = new URL('../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };

/** What runs here. */
export async function readVersions(database: Pick<Database, 'query'>) {
  const [row] = await database.query<{ server_version: string }>('show server_version');
  return { gateway: version, node: process.versions.node, postgres: row?.server_version ?? '' };
}

/**
 * `npm run servers`: the presets of self-hosted servers against the real ones, with tiny models of random weights that this
 * makes. Installs each server from PyPI into a folder of its own, and skips one that cannot be installed. Prints what holds, and exits
 * with 1 when anything does not.
 *
 *     npm run servers -- --only llama-cpp,infinity   some servers
 *     npm run servers -- --cache FOLDER              where they are installed and kept
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { installServer } from './install.ts';
import { makeModels } from './make-models.ts';
import { runServer } from './run-server.ts';
import { servers, type TriedServer } from './servers.ts';
import { tryThroughGateway } from './through-gateway.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    cache: {
      type: 'string',
      default: join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'daypass-servers'),
    },
  },
});
const names = values.only?.split(',');
const chosen = servers.filter(({ name }) => names === undefined || names.includes(name));
if (chosen.length === 0) {
  console.error(`No such server. Servers: ${[...new Set(servers.map(({ name }) => name))].join(', ')}`);
  process.exit(2);
}
let failures = 0;
let skipped = 0;

await using postgres = await startPostgres();
for (const [index, server] of chosen.entries()) await tryServer(server, `daypass_servers_${index}`);
console.log(`\n${failures} failed, ${skipped} of ${chosen.length} servers skipped`);
process.exitCode = failures === 0 ? 0 : 1;

function report(name: string, fault: string | undefined): void {
  if (fault !== undefined) failures++;
  console.log(fault === undefined ? `  ok     ${name}` : `  FAILED ${name}: ${fault.slice(0, 600)}`);
}

async function tryServer(server: TriedServer, database: string): Promise<void> {
  const kinds = Object.keys(server.models).join(', ');
  console.log(`\n${server.name} ${server.version}: ${kinds}`);
  const launch = await prepare(server);
  if (launch === undefined) return;
  await using running = await runServer(launch);
  await execute(postgres.url, `CREATE DATABASE ${database} TEMPLATE ${postgres.templateDatabase}`);
  await tryThroughGateway(server, running.url + server.basePath, withDatabase(postgres.url, database), report);
}

/** How to start it; undefined where it cannot be installed. */
async function prepare(server: TriedServer) {
  try {
    const python = await installServer(values.cache, server);
    return server.launch(python, await makeModels(values.cache));
  } catch (error) {
    skipped++;
    console.log(`  skipped: ${error instanceof Error ? error.message : 'not installed'}`);
    return undefined;
  }
}

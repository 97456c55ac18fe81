import type pg from 'pg';
import { type DuplicateAddress, duplicatesQuery } from '#core/business/accounts/duplicate-addresses.ts';
import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { findEncodingMistake } from '#core/platform/database/migrate.ts';
import { listMigrations, migrationTable } from '#core/platform/database/migration-files.ts';
import { checkUrl } from '#core/platform/database/open.ts';
import { findPostmasterPid } from '#core/platform/database/postmaster.ts';
import { readAccess, buildUrl } from '#core/platform/database/server-access.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { withClient } from '#core/platform/database/with-client.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';

const maxConnectionsShare = 0.9;
const maxClockDifferenceMs = 5_000;
const timeoutMs = 8_000;

const urlVariables = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL'] as const; // without the first, the server is embedded

/** Queries the servers directly, without starting or migrating them. */
export function databaseDiagnoses(
  environment: Readonly<Partial<Record<(typeof urlVariables)[number], string | undefined>>>,
  tables: readonly PluginTables[],
): Diagnosis[] {
  const servers = urlVariables.flatMap((variable) => {
    const url = (environment.DATABASE_URL && environment[variable]) || undefined;
    return url === undefined ? [] : [{ variable, url }];
  });
  const [primary] = servers;
  return [
    {
      name: 'database',
      checks: ({ dataFolder, now }) =>
        (primary === undefined ? [primary] : servers).map((server) => ({
          subject: server?.variable ?? 'embedded',
          run: () =>
            queryServer(server, dataFolder, (client) =>
              server?.variable === 'DATABASE_READ_URL'
                ? checkReplica(client)
                : checkServer(client, now, server?.variable),
            ),
        })),
    },
    {
      name: 'migrations',
      checks: ({ dataFolder }) => [
        { run: () => queryServer(primary, dataFolder, (client) => checkMigrations(client, tables)) },
      ],
    },
  ];
}

async function queryServer(
  server: { readonly variable: string; readonly url: string } | undefined,
  dataFolder: string,
  work: (client: pg.Client) => Promise<Finding>,
): Promise<Finding> {
  if (server !== undefined) checkUrl(server.url, server.variable);
  const url = server?.url ?? (await findEmbeddedUrl(dataFolder));
  if (typeof url !== 'string') return url;
  const timeouts = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  try {
    return await withClient({ connectionString: url, ...timeouts, application_name: 'daypass-doctor' }, work);
  } catch (error) {
    return explainFailure(error, server?.variable);
  }
}

async function findEmbeddedUrl(dataFolder: string): Promise<string | Finding> {
  const access = await readAccess(dataFolder);
  if (access === undefined) return skipped('the first start creates it');
  if ((await findPostmasterPid(access.folder)) !== undefined) return buildUrl(access);
  return skipped('is not running; it starts with the gateway');
}

function explainFailure(error: unknown, variable: string | undefined): Finding {
  const reason = describeConnectionError(error);
  if (reason === 'authentication failed') {
    const advice =
      variable !== undefined
        ? `Correct user and password in ${variable}.`
        : 'Restore postgres.json in the data folder from the same backup as the database.';
    return failed(reason, advice);
  }
  if (reason === 'database not found')
    return failed(reason, `Create the database, or correct its name in ${variable ?? 'postgres.json'}.`);
  if (reason === 'too many connections')
    return failed(reason, 'Raise PostgreSQL’s max_connections, or run fewer instances.');
  const finding = explainNetworkError(error);
  return variable !== undefined
    ? finding
    : { ...finding, advice: 'Read postgres.log in the data folder, then restart the gateway.' };
}

export interface ServerRow {
  readonly version: string;
  readonly standby: boolean;
  readonly read_only: boolean;
  readonly read_only_file: string | null; // file that makes the server read-only; null if it is a setting of the database or the user
  readonly clock_ms: number;
  readonly used_connections: number;
  readonly max_connections: number;
  readonly can_create: boolean;
}

async function checkServer(client: pg.Client, now: () => number, variable: string | undefined): Promise<Finding> {
  const askedAt = now();
  const { rows } = await client.query<ServerRow>(
    `select current_setting('server_version') as version, pg_is_in_recovery() as standby,
       current_setting('default_transaction_read_only')::boolean as read_only,
       (select sourcefile from pg_settings where name = 'default_transaction_read_only') as read_only_file,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as clock_ms,
       (select count(*) from pg_stat_activity)::int as used_connections, current_setting('max_connections')::int as max_connections,
       coalesce(has_schema_privilege(current_schema(), 'create'), false) as can_create`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('PostgreSQL returned nothing');
  const mistake = await findEncodingMistake(client);
  if (mistake !== undefined) return failed(mistake.reason, mistake.advice);
  return evaluateServer(server, (askedAt + now()) / 2, variable);
}

/**
 * @param localTime this machine's clock, epoch ms
 * @param variable the variable that contains the server's URL; undefined for the embedded server
 */
export function evaluateServer(server: ServerRow, localTime: number, variable: string | undefined): Finding {
  const {
    version,
    standby,
    read_only,
    clock_ms: clockMs,
    used_connections: used,
    max_connections: limit,
    can_create: canCreate,
  } = server;
  const name = `PostgreSQL ${version}`;
  if (standby || read_only) return failed(`${name} is read-only`, describeWriteRemedy(server, variable));
  if (!canCreate)
    return failed(
      `${name}: its user may not create tables`,
      `As its owner: GRANT CREATE ON SCHEMA public TO the user of ${variable}.`,
    );
  const difference = Math.round(Math.abs(clockMs - localTime) / 1000);
  if (difference * 1000 > maxClockDifferenceMs)
    return warning(
      `${name}: its clock differs by ${difference} s`,
      "Synchronize the clocks of both machines (NTP): plans end by the database's clock.",
    );
  if (used / limit > maxConnectionsShare)
    return warning(
      `${name}: ${used} of ${limit} connections are in use`,
      'Raise max_connections, or run fewer instances.',
    );
  return ok(`${name}, ${used} of ${limit} connections`);
}

function describeWriteRemedy({ standby, read_only_file: file }: ServerRow, variable: string | undefined): string {
  const setting = 'default_transaction_read_only';
  if (standby)
    return variable === undefined
      ? 'Remove standby.signal and recovery.signal from the folder postgres in the data folder, then restart the gateway.'
      : `Point ${variable} to the primary server.`;
  const reset = `ALTER DATABASE … RESET ${setting}, or ALTER ROLE … for its user`;
  if (variable !== undefined)
    return `Many hosts make a server read-only while its disk is full: give it space. Otherwise, as its owner: ${reset}.`;
  return file === null
    ? `Port and password are in postgres.json in the data folder: connect with psql, and ${reset}.`
    : `Remove the line ${setting} from ${file}, then restart the gateway.`;
}

const replicaTables = ['request_log', 'usage_hour', 'usage_account', 'usage_total', 'usage_delta'];

async function checkReplica(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ version: string; standby: boolean; missing: string[] }>(
    `select current_setting('server_version') as version, pg_is_in_recovery() as standby,
       array(select name from unnest($1::text[]) as name
         where not coalesce(has_table_privilege(to_regclass(name), 'select'), false)) as missing`,
    [replicaTables],
  );
  const { version = '', standby = false, missing = [] } = rows[0] ?? {};
  const name = `PostgreSQL ${version}`;
  if (missing.length > 0)
    return failed(
      `${name}: its user cannot read ${missing.join(', ')}`,
      'On the primary, as owner: GRANT SELECT ON these tables TO the user of DATABASE_READ_URL. Or correct its database.',
    );
  if (!standby)
    return warning(
      `${name} is not a replica`,
      'Point DATABASE_READ_URL to a streaming replica, or leave it out: no other server is read from.',
    );
  return ok(`${name}, a replica`);
}

async function checkMigrations(client: pg.Client, tables: readonly PluginTables[]): Promise<Finding> {
  const sets = await listMigrations(tables);
  const knownNames = new Set(sets.flatMap(({ files }) => [...files.keys()]));
  const { rows: existence } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    migrationTable,
  ]);
  if (existence[0]?.exists !== true) return skipped('the first start creates the tables');
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationTable}`);
  const appliedNames = new Set(rows.map(({ name }) => name));
  const pendingNames = [...knownNames].filter((name) => !appliedNames.has(name));
  const unknownNames = [...appliedNames].filter((name) => !knownNames.has(name));
  if (pendingNames.length > 0)
    return warning(
      `${pendingNames.length} pending: ${pendingNames.slice(0, 3).join(', ')}`,
      'The next start applies them; `daypass migrate` does so now. Make a backup first.',
    );
  if (unknownNames.length > 0)
    return warning(
      `the database has ${unknownNames.length} that this version does not: ${unknownNames.slice(0, 3).join(', ')}`,
      'They were made by a newer version, or by a removed plugin. Read the release notes before you roll back.',
    );
  const { rows: duplicates } = await client.query<DuplicateAddress>(duplicatesQuery);
  if (duplicates.length > 0)
    return warning(
      `accounts with the same e-mail address: ${duplicates.map(({ ids }) => ids.join(' and ')).join(', ')}`,
      'The database’s collation allowed it. Change the address of one account, or delete that account, then restart.',
    );
  return ok(`all ${appliedNames.size} are applied`);
}

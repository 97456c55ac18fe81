import pg from 'pg';
import { StartRefused } from '../errors/start-refused.ts';
import type { Logger } from '../logger.ts';
import { expectedSettings, type SessionSettings, findUnexpectedSettings } from './session.ts';
import { withClient } from './with-client.ts';

type PoolerMode = 'session' | 'transaction' | 'statement';

const connectionOptions = { connectionTimeoutMillis: 5_000, query_timeout: 5_000, application_name: 'daypass-start' };

/** Detects a pooler. Returns undefined without one, or if the server does not respond, which opening the database reports. */
export async function findPooler(url: string): Promise<PoolerMode | undefined> {
  const clients = [1, 2].map(() => new pg.Client({ connectionString: url, ...connectionOptions }));
  for (const client of clients) client.on('error', () => undefined);
  const [first, second] = clients as [pg.Client, pg.Client];
  try {
    await first.connect();
    const firstPid = await readBackendPid(first);
    // The protocol reports a process id for cancellations. Behind a pooler, it is the pooler's.
    const { processID } = first as unknown as { readonly processID: number | null };
    if (firstPid === processID) return undefined;
    await second.connect();
    const beginResult = await second.query('BEGIN').catch((error: unknown) => error);
    if (beginResult instanceof Error) return /statement pooling/.test(beginResult.message) ? 'statement' : undefined;
    // In session mode, a client keeps its server process between transactions. In transaction mode, other clients can get it.
    return (await readBackendPid(second)) === firstPid ? 'transaction' : 'session';
  } catch {
    return undefined;
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

async function readBackendPid(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

interface PooledUrls {
  readonly mode: PoolerMode | undefined; // of DATABASE_URL
  readonly directUrl: string | undefined; // only if it differs from DATABASE_URL
  readonly isShared: boolean; // jobs are in Redis, and other gateways may use the database
}

/** Refuses configurations that cannot work through a pooler (StartRefused), and logs one that works with drawbacks. */
export async function requireUsablePooler({ mode, directUrl, isShared }: PooledUrls, log: Logger): Promise<void> {
  if (mode === 'statement') throw createRefusal('DATABASE_URL', mode, 'set it to transaction or session');
  if (directUrl !== undefined) {
    const directMode = await findPooler(directUrl);
    if (directMode === 'transaction' || directMode === 'statement')
      throw createRefusal('DATABASE_DIRECT_URL', directMode, 'set the variable to the URL of PostgreSQL itself');
    return;
  }
  if (mode !== 'transaction') return;
  const remedy = 'set DATABASE_DIRECT_URL to the URL of PostgreSQL itself';
  // The job queue and the claim need a session.
  if (!isShared) throw createRefusal('DATABASE_URL', mode, `${remedy}, or REDIS_URL`);
  log.error(
    `DATABASE_URL leads to a connection pooler in transaction mode, and DATABASE_DIRECT_URL is not set: ${remedy}; otherwise blocked accounts and replaced keys keep working for seconds`,
  );
}

function createRefusal(variable: string, mode: PoolerMode, remedy: string): StartRefused {
  return new StartRefused(`${variable} leads to a connection pooler in ${mode} mode, which cannot work: ${remedy}.`, {
    isPermanent: true,
  });
}

/**
 * Rejects a pooler that leaves single statements in a transaction, such as Pgpool-II in `raw` mode. Their locks would block other clients,
 * and acknowledged changes would be lost with the connection. `findPooler` does not detect such a pooler.
 *
 * @param url of a migrated database
 * @throws StartRefused
 */
export async function requireAutocommit(url: string, variable: string): Promise<void> {
  const isOpen = await withClient({ connectionString: url, ...connectionOptions }, async (client) => {
    await client.query('UPDATE account SET name = $1 WHERE false', ['']);
    const { rows } = await client.query<{ is_open: boolean }>('SELECT now() < statement_timestamp() AS is_open');
    return rows[0]?.is_open === true;
  });
  if (!isOpen) return;
  throw new StartRefused(
    `${variable} leads to a pooler that leaves single statements in a transaction, so acknowledged changes can be lost: with Pgpool-II, set backend_clustering_mode to streaming_replication instead of raw.`,
    { isPermanent: true },
  );
}

/** Logs role settings that differ from the required ones, because the gateway cannot change them through a pooler. */
export async function warnAboutRoleSettings(url: string, log: Logger): Promise<void> {
  const names = [...Object.keys(expectedSettings), 'synchronous_commit'];
  try {
    const { rows } = await withClient({ connectionString: url, ...connectionOptions }, (client) =>
      client.query<{ settings: SessionSettings; role: string }>(
        'SELECT json_object_agg(name, current_setting(name)) AS settings, current_user AS role FROM unnest($1::text[]) AS name',
        [names],
      ),
    );
    for (const { settings, role } of rows)
      for (const { name, value, expected } of findUnexpectedSettings(settings))
        log.error(
          `the role of DATABASE_URL has ${name} = '${value}', which the gateway cannot change through a pooler: ALTER ROLE "${role}" SET ${name} = '${expected}'`,
        );
  } catch {
    // Opening the database reports the failure.
  }
}

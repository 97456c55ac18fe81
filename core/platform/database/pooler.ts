import pg from 'pg';
import type { Logger } from '../logger.ts';

/**
 * Warns when a connection pooler stands before PostgreSQL: in its transaction mode a client has no session, so that notifications
 * are never heard and locks are held by nobody. A failure to connect is left to those who need the database.
 */
export async function warnOfPooler(url: string, log: Logger): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // The protocol names the process that a cancellation would reach: the pooler's.
    const { processID } = client as unknown as { readonly processID: number | null };
    if (rows[0] === undefined || rows[0].pid === processID) return;
    log.error(
      'DATABASE_URL leads to a connection pooler, and DATABASE_DIRECT_URL is not set: set it to the URL of PostgreSQL itself, ' +
        'or to the same URL if the pooler keeps a session for each client; otherwise blocked accounts and replaced keys keep working',
    );
  } catch {
    // As above.
  } finally {
    await client.end().catch(() => undefined);
  }
}

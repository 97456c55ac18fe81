import type pg from 'pg';

const returnGraceMs = 500;

const readTimeout = 'Query read timeout'; // pg's error message for `query_timeout`

/**
 * Releases clients whose connection was lost. Kysely never releases the client of a transaction whose BEGIN, COMMIT or ROLLBACK failed: it
 * would occupy its place in the pool until the process ends, and block closing the pool.
 *
 * Connections on which a query timed out are closed, because the next response may belong to that query.
 */
export function releaseLostClients(pool: pg.Pool): void {
  const inUse = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => {
    inUse.add(client);
  });
  pool.on('release', (_error, client) => {
    inUse.delete(client);
  });
  pool.on('connect', (client) => {
    closeAfterTimeout(client);
    client.once('end', () => setTimeout(() => reclaim(client, inUse), returnGraceMs));
  });
}

function reclaim(client: pg.PoolClient, inUse: ReadonlySet<pg.PoolClient>): void {
  if (inUse.has(client)) client.release(true);
  // Its user may still release it, and a second release throws.
  client.release = () => undefined;
}

function closeAfterTimeout(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
  const watched = (...parameters: unknown[]): unknown => {
    const result = query(...parameters);
    if (result instanceof Promise) result.catch((error: unknown) => isReadTimeout(error) && close(client));
    return result;
  };
  client.query = watched as typeof client.query;
}

function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === readTimeout;
}

/** Sends no termination message, because the other side does not respond. */
function close(client: pg.PoolClient): void {
  (client as unknown as { readonly connection: pg.Connection }).connection.stream.destroy();
}

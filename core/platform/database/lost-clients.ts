import type pg from 'pg';

const releaseGraceMs = 500;

const readTimeoutMessage = 'Query read timeout'; // pg's error message for `query_timeout`

/**
 * Releases clients whose connection was lost. Kysely never releases the client of a transaction whose BEGIN, COMMIT or ROLLBACK failed. It
 * would occupy its place in the pool until the process ends, and prevent closing the pool.
 *
 * Connections on which a query timed out are closed, because the next response may belong to that query.
 */
export function releaseLostClients(pool: pg.Pool): void {
  const activeClients = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => {
    activeClients.add(client);
  });
  pool.on('release', (_error, client) => {
    activeClients.delete(client);
  });
  pool.on('connect', (client) => {
    closeAfterTimeout(client);
    client.once('end', () => setTimeout(() => releaseClient(client, activeClients), releaseGraceMs));
  });
}

function releaseClient(client: pg.PoolClient, activeClients: ReadonlySet<pg.PoolClient>): void {
  if (activeClients.has(client)) client.release(true);
  // The code that uses the client may still release it, and a second release would throw.
  client.release = () => undefined;
}

function closeAfterTimeout(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
  const watchedQuery = (...parameters: unknown[]): unknown => {
    const result = query(...parameters);
    if (result instanceof Promise) result.catch((error: unknown) => isReadTimeout(error) && destroyConnection(client));
    return result;
  };
  client.query = watchedQuery as typeof client.query;
}

function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === readTimeoutMessage;
}

function destroyConnection(client: pg.PoolClient): void {
  // Sends no termination message, because the other side does not respond.
  (client as unknown as { readonly connection: pg.Connection }).connection.stream.destroy();
}

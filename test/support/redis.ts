import { inject } from 'vitest';

/**
 * Connection string of the tests' Redis; undefined without one, and in unit tests. Files that run at the same time
 * have databases of their own: gateways on one database would take each other's jobs.
 */
export const redisUrl = inWorkerDatabase(inject('redisUrl'));

/** A Redis has 16 databases, unless it is configured otherwise; 0 stays as it is. */
function inWorkerDatabase(url: string | null | undefined): string | undefined {
  if (url === null || url === undefined) return undefined;
  const own = new URL(url);
  own.pathname = `/${(Number(process.env['VITEST_POOL_ID'] ?? 1) % 15) + 1}`;
  return own.href;
}

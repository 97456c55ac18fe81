import { inject } from 'vitest';

/**
 * Connection string of the tests' Redis; undefined if there is none, and in unit tests. Files that run at the same time use separate
 * databases, because gateways on the same one would take each other's jobs.
 */
export const redisUrl = selectWorkerDatabase(inject('redisUrl'));

/** A Redis has 16 databases unless configured otherwise; 0 is left alone. */
function selectWorkerDatabase(url: string | null | undefined): string | undefined {
  if (url === null || url === undefined) return undefined;
  const own = new URL(url);
  own.pathname = `/${(Number(process.env['VITEST_POOL_ID'] ?? 1) % 15) + 1}`;
  return own.href;
}

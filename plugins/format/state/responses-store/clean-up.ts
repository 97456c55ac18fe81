import type { Host } from '#core/gateway/host/host.ts';
import { findIfStored } from './find-response.ts';
import { ResponseRows } from './rows.ts';
import { RunRows } from './run-rows.ts';

/**
 * Marks running responses as failed if their instance has stopped, and deletes expired responses and events. Returns the number of expired
 * responses.
 */
export async function cleanUpResponses(host: Host, eventRetentionMs: number): Promise<number> {
  const runs = new RunRows(host.database);
  const now = host.now();
  // Finding an abandoned response marks it as failed. A response deleted or expired in the meantime must not stop the loop.
  for (const key of await runs.listAbandoned(now)) await findIfStored(host, key);
  await runs.deleteEvents(now, eventRetentionMs);
  return new ResponseRows(host.database).deleteExpired(now);
}

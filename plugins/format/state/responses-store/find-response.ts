import { GatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { unavailable } from './continuation.ts';
import { endingsOf } from './response-events.ts';
import { ResponseRows, type StoredResponse } from './rows.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { runsOf } from './runs.ts';

const abandonment = 'The gateway that ran this response has stopped. Send the request again.';

/**
 * Finds a stored response. A running response whose instance has stopped is marked as failed.
 *
 * @throws GatewayError `response_not_found`, `unavailable`
 */
export async function findResponse(host: Host, key: RunKey): Promise<StoredResponse> {
  const found = await findIfKept(host, key);
  if (found === undefined) throw responseNotFound(key.id);
  return found;
}

async function findIfKept(host: Host, key: RunKey): Promise<StoredResponse | undefined> {
  const rows = new ResponseRows(host.database);
  const find = () => rows.find(key.accountId, key.id, host.now()).catch(unavailable);
  const found = await find();
  if (found?.isRunning !== true || !(await failAbandoned(host, key, found.response))) return found;
  return find();
}

/**
 * Marks running responses whose instances have stopped as failed, and deletes expired responses and events.
 *
 * @param keepEvents ms
 * @returns number of responses that had expired
 */
export async function cleanUp(host: Host, keepEvents: number): Promise<number> {
  const runs = new RunRows(host.database);
  const now = host.now();
  // One that is deleted or expires meanwhile is not found, and must not stop the others.
  for (const key of await runs.abandoned(now)) await findIfKept(host, key);
  await runs.deleteEvents(now - keepEvents);
  return new ResponseRows(host.database).deleteExpired(now);
}

/**
 * Marks a response as failed if its instance has stopped.
 *
 * @returns false if the instance has not stopped
 */
async function failAbandoned(host: Host, key: RunKey, response: JsonObject): Promise<boolean> {
  const runs = new RunRows(host.database);
  if ((await runs.state(key, host.now()).catch(unavailable)) !== 'abandoned') return false;
  const failed = failedResponse(response, 'server_error', abandonment);
  await runs.end(key, failed, host.now(), endingsOf(failed)).catch(unavailable);
  runsOf(host).wake(key);
  return true;
}

export function failedResponse(response: JsonObject, code: string, message: string): JsonObject {
  return { ...response, status: 'failed', error: { code, message } };
}

export function responseNotFound(id: string): GatewayError {
  return new GatewayError('response_not_found', `Response with id '${id.slice(0, 200)}' not found.`);
}

import type { Host } from '#core/gateway/host/host.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { throwUnavailable } from './continuation.ts';
import { writeStreamEnd } from './response-events.ts';
import { ResponseRows, type StoredResponse } from './rows.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { getBackgroundRuns } from './runs.ts';

const abandonedMessage = 'The gateway that ran this response has stopped. Send the request again.';

/**
 * Finds a stored response. If it is running but its instance has stopped, marks it as failed first.
 *
 * @throws GatewayError `response_not_found`, `unavailable`
 */
export async function findResponse(host: Host, key: RunKey): Promise<StoredResponse> {
  const storedResponse = await findIfStored(host, key);
  if (storedResponse === undefined) throw createResponseNotFoundError(key.id);
  return storedResponse;
}

export async function findIfStored(host: Host, key: RunKey): Promise<StoredResponse | undefined> {
  const rows = new ResponseRows(host.database);
  const findRow = () => rows.find(key.accountId, key.id, host.now()).catch(throwUnavailable);
  const storedResponse = await findRow();
  if (storedResponse?.isRunning !== true || !(await failIfAbandoned(host, key, storedResponse.response)))
    return storedResponse;
  return findRow();
}

async function failIfAbandoned(host: Host, key: RunKey, response: JsonObject): Promise<boolean> {
  const runs = new RunRows(host.database);
  if ((await runs.findState(key, host.now()).catch(throwUnavailable)) !== 'abandoned') return false;
  const failure = createFailedResponse(response, 'server_error', abandonedMessage);
  await runs.end(key, failure, host.now(), writeStreamEnd(failure)).catch(throwUnavailable);
  getBackgroundRuns(host).wake(key);
  return true;
}

export function createFailedResponse(response: JsonObject, code: string, message: string): JsonObject {
  return { ...response, status: 'failed', error: { code, message } };
}

export function createResponseNotFoundError(id: string): GatewayError {
  return new GatewayError('response_not_found', `Response with id '${id.slice(0, 200)}' not found.`);
}

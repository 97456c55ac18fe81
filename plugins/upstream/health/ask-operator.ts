import { operatorSection } from '#core/config/sections/operator-section.ts';
import { listen } from '#core/config/sections/core-sections.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { describeAddress, type OperatorAddress, operatorAddress } from '#core/gateway/operator-listener/address.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';

/** Ms in which the running gateway must respond. */
const askTimeout = 5_000;

/**
 * Reads `/readyz?verbose` from the operator's listener of the running gateway.
 *
 * @param url of the listener, instead of the one in gateway.yaml
 * @throws CommandFailed when no gateway answers, or not with its state
 */
export async function askOperator(host: Host, url?: string): Promise<JsonObject> {
  const operator = host.section(operatorSection);
  const address = operatorAddress(operator, host.section(listen).port, host.dataFolder);
  const place = url ?? (address && describeAddress(address));
  if (place === undefined) throw new CommandFailed('The operator listener is off: operator.enabled is false.');
  const headers = operator.token === undefined ? {} : { authorization: `Bearer ${operator.token}` };
  const [status, text] = await read(place, headers, url === undefined ? address : undefined);
  const body = parseObject(text);
  if (body !== undefined && status !== 404) return body;
  const why = body === undefined && status !== 200 ? `: ${status} ${text.slice(0, 200).trim()}` : '';
  throw new CommandFailed(`The server at ${place} is not the operator listener of a gateway${why}`);
}

/** @returns status and body */
async function read(
  place: string,
  headers: Record<string, string>,
  address: OperatorAddress | undefined,
): Promise<[number, string]> {
  // Loaded here: the command is registered by every start and by every other command.
  const { Agent, fetch } = await import('undici');
  const isSocket = address !== undefined && 'path' in address;
  const dispatcher = new Agent(isSocket ? { connect: { socketPath: address.path } } : {});
  try {
    const url = new URL('/readyz?verbose', isSocket ? 'http://localhost' : place);
    const response = await fetch(url, { dispatcher, headers, signal: AbortSignal.timeout(askTimeout) });
    return [response.status, await response.text()];
  } catch (error) {
    const code =
      error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : '';
    const why = code === 'ENOENT' ? 'no such socket' : describeConnectionError(error);
    throw new CommandFailed(`No gateway responds at ${place}: ${why}.`);
  } finally {
    await dispatcher.destroy();
  }
}

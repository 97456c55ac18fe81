import { operatorSection } from '#core/config/sections/operator-section.ts';
import { listen } from '#core/config/sections/core-sections.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import type { Host } from '../host/host.ts';
import { describeAddress, type OperatorAddress, operatorAddress } from './address.ts';

const askTimeoutMs = 5_000;

/** No gateway responded, or not with its state; the message has the reason and the address. */
export class OperatorUnavailable extends Error {
  override readonly name = 'OperatorUnavailable';
}

interface OperatorInquiry {
  readonly url?: string | undefined;
  readonly path?: string;
}

/**
 * Reads from the operator listener of the running gateway, by default `/readyz?verbose`.
 *
 * @throws OperatorUnavailable
 */
export async function askOperator(
  host: Pick<Host, 'section' | 'dataFolder'>,
  { url, path = '/readyz?verbose' }: OperatorInquiry = {},
): Promise<JsonObject> {
  const operator = host.section(operatorSection);
  const address = operatorAddress(operator, host.section(listen).port, host.dataFolder);
  const place = url ?? (address && describeAddress(address));
  if (place === undefined) throw new OperatorUnavailable('The operator listener is off: operator.enabled is false.');
  const headers = operator.token === undefined ? {} : { authorization: `Bearer ${operator.token}` };
  const [status, text] = await read(place, path, headers, url === undefined ? address : undefined);
  const body = parseObject(text);
  if (body !== undefined && status !== 404) return body;
  const why = body === undefined && status !== 200 ? `: ${status} ${text.slice(0, 200).trim()}` : '';
  throw new OperatorUnavailable(`The server at ${place} is not the operator listener of a gateway${why}`);
}

async function read(
  place: string,
  path: string,
  headers: Record<string, string>,
  address: OperatorAddress | undefined,
): Promise<[number, string]> {
  // Loaded here: commands that ask are registered by every start and by every other command.
  const { Agent } = await import('undici');
  const isSocket = address !== undefined && 'path' in address;
  const agent = new Agent(isSocket ? { connect: { socketPath: address.path } } : {});
  try {
    const url = new URL(path, isSocket ? 'http://localhost' : place);
    const response = await outgoingFetch(url, { headers, signal: AbortSignal.timeout(askTimeoutMs) }, { agent });
    return [response.status, await response.text()];
  } catch (error) {
    const code =
      error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : '';
    const why = code === 'ENOENT' ? 'no such socket' : describeConnectionError(error);
    throw new OperatorUnavailable(`No gateway responds at ${place}: ${why}.`);
  } finally {
    await agent.destroy();
  }
}

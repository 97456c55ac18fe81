import { listen } from '#core/config/sections/core-sections.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import type { Host } from '../host/host.ts';
import { formatOperatorAddress, type OperatorAddress, resolveOperatorAddress } from './address.ts';

const queryTimeoutMs = 5_000;

/** Thrown if no gateway responded. The message contains the reason and the address. */
export class OperatorUnavailable extends Error {
  override readonly name = 'OperatorUnavailable';
}

interface OperatorQuery {
  readonly url?: string | undefined;
  readonly path?: string;
}

/** @throws OperatorUnavailable */
export async function queryOperator(
  host: Pick<Host, 'section' | 'dataFolder'>,
  { url, path = '/readyz?verbose' }: OperatorQuery = {},
): Promise<JsonObject> {
  const operator = host.section(operatorSection);
  const address = resolveOperatorAddress(operator, host.section(listen).port, host.dataFolder);
  const target = url ?? (address && formatOperatorAddress(address));
  if (target === undefined) throw new OperatorUnavailable('The operator listener is off: operator.enabled is false.');
  const headers = operator.token === undefined ? {} : { authorization: `Bearer ${operator.token}` };
  const [status, text] = await fetchText(target, path, headers, url === undefined ? address : undefined);
  const body = parseObject(text);
  if (body !== undefined && status !== 404) return body;
  const reason = body === undefined && status !== 200 ? `: ${status} ${text.slice(0, 200).trim()}` : '';
  throw new OperatorUnavailable(`The server at ${target} is not the operator listener of a gateway${reason}`);
}

async function fetchText(
  target: string,
  path: string,
  headers: Record<string, string>,
  address: OperatorAddress | undefined,
): Promise<[status: number, text: string]> {
  // Imported on use, because every command and every start loads this module.
  const { Agent } = await import('undici');
  const isSocket = address !== undefined && 'path' in address;
  const agent = new Agent(isSocket ? { connect: { socketPath: address.path } } : {});
  try {
    const url = new URL(path, isSocket ? 'http://localhost' : target);
    const response = await outgoingFetch(url, { headers, signal: AbortSignal.timeout(queryTimeoutMs) }, { agent });
    return [response.status, await response.text()];
  } catch (error) {
    const code =
      error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : '';
    const reason = code === 'ENOENT' ? 'no such socket' : describeConnectionError(error);
    throw new OperatorUnavailable(`No gateway responds at ${target}: ${reason}.`);
  } finally {
    await agent.destroy();
  }
}

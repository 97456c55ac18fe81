import { resolve } from 'node:path';
import type { operatorSection } from '#core/config/sections/operator-section.ts';
import type { SectionValue } from '#core/config/section.ts';

/** Address of the operator's listener: a Unix socket, or host and port. */
export type OperatorAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** Added to the port of `listen`, so that two gateways on one machine get different operator ports. */
const portDistance = 1_000;

/**
 * Returns the address of the operator listener.
 *
 * @param publicPort of `listen`
 * @returns undefined when the listener is off
 */
export function operatorAddress(
  { enabled, host = '127.0.0.1', port, socket }: SectionValue<typeof operatorSection>,
  publicPort: number,
  dataFolder: string,
): OperatorAddress | undefined {
  if (!enabled) return undefined;
  return socket === undefined
    ? { host, port: port ?? operatorPort(publicPort) }
    : { path: resolve(dataFolder, socket) };
}

/** Port 0 (any free port) stays 0. */
function operatorPort(port: number): number {
  if (port === 0) return 0;
  return port + portDistance <= 65_535 ? port + portDistance : port - portDistance;
}

/** Describes `http://127.0.0.1:9080`, or `unix:/path/of/the/socket`. */
export function describeAddress(address: OperatorAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const { host, port } = address;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

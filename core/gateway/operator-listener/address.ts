import { resolve } from 'node:path';
import type { SectionValue } from '#core/config/section.ts';
import type { operatorSection } from '#core/config/sections/operator-section.ts';

export type OperatorAddress = { readonly path: string } | { readonly host: string; readonly port: number };

const portOffset = 1_000; // added to the port of `listen`, so that two gateways on one machine have different operator ports

/** @param publicPort port of `listen` */
export function resolveOperatorAddress(
  { enabled, host = '127.0.0.1', port, socket }: SectionValue<typeof operatorSection>,
  publicPort: number,
  dataFolder: string,
): OperatorAddress | undefined {
  if (!enabled) return undefined;
  return socket === undefined
    ? { host, port: port ?? chooseDefaultPort(publicPort) }
    : { path: resolve(dataFolder, socket) };
}

function chooseDefaultPort(publicPort: number): number {
  if (publicPort === 0) return 0; // any free port
  return publicPort + portOffset <= 65_535 ? publicPort + portOffset : publicPort - portOffset;
}

/** Formats an address as `http://127.0.0.1:9080` or `unix:/path/of/the/socket`. */
export function formatOperatorAddress(address: OperatorAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const { host, port } = address;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

import { isIP } from 'node:net';

/** The mistake in an address to listen on and its correction; undefined for an IP address or the name of a host. */
export function hostMistake(host: string): readonly [wrong: string, right: string] | undefined {
  const right = 'write only an address, such as 127.0.0.1, or 0.0.0.0 for all interfaces';
  if (isIP(host) !== 0) return undefined;
  if (host.includes('://')) return ['is a URL', right];
  if (/^\[.*\]$/.test(host)) return ['has brackets around the address', 'remove the brackets'];
  if (/:\d+$/.test(host)) return ['contains a port', 'put the port under `port`'];
  return /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(host) ? undefined : ['is not a valid address', right];
}

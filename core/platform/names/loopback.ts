import { isIP } from 'node:net';

/** True for addresses and names that only this machine reaches: 127.0.0.0/8, ::1, localhost and names below it (RFC 6761). */
export function isLoopback(host: string): boolean {
  const address = plainAddress(host.toLowerCase().replace(/^\[|\]$|\.$/g, ''));
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost');
}

/** `127.0.0.1` for `::ffff:127.0.0.1`, as a listener on `::` reports IPv4 peers. */
export function plainAddress(address: string): string {
  if (!address.startsWith('::')) return address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

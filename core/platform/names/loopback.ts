import { isIP } from 'node:net';

/** Returns true for addresses and names of this machine only: 127.0.0.0/8, ::1, localhost and its subdomains (RFC 6761). */
export function isLoopback(host: string): boolean {
  const address = unmapAddress(host.toLowerCase().replace(/^\[|\]$|\.$/g, ''));
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost');
}

/** IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), in any spelling. */
const mappedAddress = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/**
 * Returns the IPv4 address of an IPv4-mapped one: `127.0.0.1` for `::ffff:127.0.0.1` (an IPv4 peer of a listener on `::`) and
 * `::ffff:7f00:1`. Returns other addresses unchanged.
 */
export function unmapAddress(address: string): string {
  if (!address.startsWith('::') && !address.startsWith('0')) return address;
  const [, dotted, high, low] = mappedAddress.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

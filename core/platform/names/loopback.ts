import { isIP } from 'node:net';

/** Returns true for addresses and names that only this machine can reach: 127.0.0.0/8, ::1, localhost and names below it (RFC 6761). */
export function isLoopback(host: string): boolean {
  const address = plainAddress(host.toLowerCase().replace(/^\[|\]$|\.$/g, ''));
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost');
}

/** IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), in any spelling. */
const mapped = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/** Unmaps IPv4 addresses: `127.0.0.1` for `::ffff:127.0.0.1` (IPv4 peers of a listener on `::`), and for `::ffff:7f00:1`. */
export function plainAddress(address: string): string {
  if (!address.startsWith('::') && !address.startsWith('0')) return address;
  const [, dotted, high, low] = mapped.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

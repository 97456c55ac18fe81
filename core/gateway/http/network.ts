import { isIP } from 'node:net';
import { plainAddress } from '#core/platform/names/loopback.ts';

/**
 * Returns the network that one caller can send from: an IPv4 address, or the /64 of an IPv6 address, whose 2^64 addresses belong to one
 * household or machine.
 */
export function networkOf(address = ''): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = groupsOf(head);
  const tailGroups = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - tailGroups.length) }, () => '0');
  return [...groups, ...zeros, ...tailGroups].slice(0, 4).map(withoutZeros).join(':');
}

/**
 * Address block for counting unauthenticated requests: the /24 of an IPv4 address, the /64 of an IPv6 address. Undefined if it is not an
 * address.
 */
export function addressBlockOf(address = ''): string | undefined {
  const network = networkOf(address);
  if (isIP(network) === 4) return `${network.slice(0, network.lastIndexOf('.'))}.0/24`;
  return isIP(address) === 6 ? `${network}::/64` : undefined;
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

function withoutZeros(group: string): string {
  return group.replace(/^0+(?=.)/, '');
}

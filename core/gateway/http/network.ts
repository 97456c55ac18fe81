import { isIP } from 'node:net';
import { unmapAddress } from '#core/platform/names/loopback.ts';

/**
 * Returns the network that one caller can send from: an IPv4 address, or the /64 of an IPv6 address, because all 2^64 addresses of a /64
 * belong to one household or machine.
 */
export function parseNetwork(address = ''): string {
  const bareAddress = unmapAddress(address);
  if (isIP(bareAddress) !== 6) return bareAddress;
  const [head = '', tail = ''] = address.toLowerCase().split('::');
  const headGroups = splitGroups(head);
  const tailGroups = splitGroups(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - headGroups.length - tailGroups.length) }, () => '0');
  return [...headGroups, ...zeros, ...tailGroups].slice(0, 4).map(trimLeadingZeros).join(':');
}

/**
 * Returns the address block for counting unauthenticated requests: the /24 of an IPv4 address, or the /64 of an IPv6 address. Returns
 * undefined if the text is not an address.
 */
export function parseAddressBlock(address = ''): string | undefined {
  const network = parseNetwork(address);
  if (isIP(network) === 4) return `${network.slice(0, network.lastIndexOf('.'))}.0/24`;
  return isIP(address) === 6 ? `${network}::/64` : undefined;
}

function splitGroups(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

function trimLeadingZeros(group: string): string {
  return group.replace(/^0+(?=.)/, '');
}

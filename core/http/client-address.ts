import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Returns the address of the client. `x-forwarded-for` counts only as far as configured proxies have written it. */
export type ClientAddress = (peer: string, headers: IncomingHttpHeaders) => string;

/** @param proxies addresses or CIDR ranges whose `x-forwarded-for` is trusted */
export function createClientAddress(proxies: readonly string[]): ClientAddress {
  if (proxies.length === 0) return (peer) => peer;
  const trusted = new BlockList();
  for (const proxy of proxies) addRange(trusted, proxy);
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (peer, headers) => {
    const chain = [...(headers['x-forwarded-for']?.toString().split(',') ?? []), peer].map((entry) => entry.trim());
    // From the nearest hop backwards: the first address that is not a trusted proxy is the client.
    const client = chain.findLast((address) => !isTrusted(address)) ?? peer;
    return isTrusted(peer) && isIP(client) !== 0 ? client : peer;
  };
}

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Request } from '@hapi/hapi';
import { listen } from '#core/config/sections/core-sections.ts';
import { unmapAddress } from '#core/platform/names/loopback.ts';
import type { Host } from '../host/host.ts';
import { parseHop, readForwarded } from './forwarded.ts';

interface ClientConnection {
  readonly address: string;
  readonly isSecure: boolean; // HTTPS
  readonly host: string | undefined;
}

/** Determines the client's connection. Uses only header entries that were written by trusted proxies. */
export type ReadClientConnection = (peer: string, headers: IncomingHttpHeaders) => ClientConnection;

/** @param proxies addresses or CIDR ranges whose headers are trusted, see `listen.trusted_proxies` */
export function createConnectionReader(proxies: readonly string[]): ReadClientConnection {
  const isTrusted = createTrustCheck(proxies);
  return (peer, headers) => {
    const direct = { address: unmapAddress(peer), isSecure: false, host: headers.host };
    if (!isTrusted(direct.address)) return direct;
    const { addresses, schemes, hosts } = readForwarded(headers);
    const hops = findHops(addresses, isTrusted);
    const hopCount = Math.max(1, hops.length);
    return {
      address: hops.at(-1) ?? direct.address,
      isSecure: selectOutermostEntry(schemes, hopCount)?.toLowerCase() === 'https',
      host: selectOutermostEntry(hosts, hopCount) || direct.host,
    };
  };
}

function findHops(addresses: readonly string[], isTrusted: (address: string) => boolean): string[] {
  const hops: string[] = [];
  for (const entry of addresses.toReversed()) {
    const address = parseHop(entry);
    if (address === undefined) break;
    hops.push(address);
    if (!isTrusted(address)) break;
  }
  return hops;
}

function selectOutermostEntry(entries: readonly string[], hopCount: number): string | undefined {
  // A proxy that replaces the header instead of appending to it leaves one entry.
  return entries.at(-hopCount) ?? entries[0];
}

function createTrustCheck(proxies: readonly string[]): (address: string) => boolean {
  if (proxies.length === 0) return () => false;
  const trusted = new BlockList();
  for (const proxy of proxies) addRange(trusted, proxy);
  return (address) => {
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

const readers = new WeakMap<readonly string[], ReadClientConnection>();

/** Cached by `listen.trusted_proxies`. */
export function getConnectionReader({ section }: Pick<Host, 'section'>): ReadClientConnection {
  const { trusted_proxies: proxies } = section(listen);
  const reader = readers.get(proxies) ?? createConnectionReader(proxies);
  readers.set(proxies, reader);
  return reader;
}

export function clientConnection(
  { info, raw }: Pick<Request, 'info' | 'raw'>,
  host: Pick<Host, 'section'>,
): ClientConnection {
  return getConnectionReader(host)(info.remoteAddress, raw.req.headers);
}

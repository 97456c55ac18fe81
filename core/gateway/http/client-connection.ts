import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Request } from '@hapi/hapi';
import { listen } from '#core/config/sections/core-sections.ts';
import type { Host } from '../host/host.ts';
import { parseHop, readForwarded } from './forwarded.ts';
import { plainAddress } from '#core/platform/names/loopback.ts';

interface ClientConnection {
  readonly address: string;
  readonly isSecure: boolean; // HTTPS
  readonly host: string | undefined;
}

/** Determines the client's connection. Headers are used only as far as trusted proxies wrote them. */
export type ReadClientConnection = (peer: string, headers: IncomingHttpHeaders) => ClientConnection;

/**
 * Creates the reader of clients' connections.
 *
 * @param proxies addresses or CIDR ranges whose headers are trusted, see `listen.trusted_proxies`
 */
export function createConnectionReader(proxies: readonly string[]): ReadClientConnection {
  const isTrusted = createTrust(proxies);
  return (peer, headers) => {
    const direct = { address: plainAddress(peer), isSecure: false, host: headers.host };
    if (!isTrusted(direct.address)) return direct;
    const { addresses, schemes, hosts } = readForwarded(headers);
    const known = knownHops(addresses, isTrusted);
    const hop = Math.max(1, known.length);
    return {
      address: known.at(-1) ?? direct.address,
      isSecure: entryOf(schemes, hop)?.toLowerCase() === 'https',
      host: entryOf(hosts, hop) || direct.host,
    };
  };
}

/** Hops from the nearest up to the first that is not a trusted proxy. An unknown address ends the search. */
function knownHops(addresses: readonly string[], isTrusted: (address: string) => boolean): string[] {
  const known: string[] = [];
  for (const entry of addresses.toReversed()) {
    const address = parseHop(entry);
    if (address === undefined) break;
    known.push(address);
    if (!isTrusted(address)) break;
  }
  return known;
}

/** The entry written by the outermost proxy. Proxies that replace a header instead of appending leave one entry. */
function entryOf(entries: readonly string[], hop: number): string | undefined {
  return entries.at(-hop) ?? entries[0];
}

function createTrust(proxies: readonly string[]): (address: string) => boolean {
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

/** Returns the cached reader of a configuration. */
export function connectionReader({ section }: Pick<Host, 'section'>): ReadClientConnection {
  const { trusted_proxies: proxies } = section(listen);
  const reader = readers.get(proxies) ?? createConnectionReader(proxies);
  readers.set(proxies, reader);
  return reader;
}

/** Returns the connection of the client that sent this request. */
export function clientConnection(
  { info, raw }: Pick<Request, 'info' | 'raw'>,
  host: Pick<Host, 'section'>,
): ClientConnection {
  return connectionReader(host)(info.remoteAddress, raw.req.headers);
}

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '#core/platform/names/loopback.ts';

/** Reports of proxies about their previous connection, nearest proxy last. */
interface ForwardedHops {
  readonly addresses: readonly string[];
  readonly schemes: readonly string[];
  readonly hosts: readonly string[];
}

const maxHops = 32; // counted from the nearest one

/**
 * Reads `X-Forwarded-For`, `-Proto` and `-Host`, or `Forwarded` (RFC 7239) if there is no `X-Forwarded-For`: proxies that write one of the
 * two forward the other as sent by the client. The size of the headers is bounded by the request head.
 */
export function readForwarded(headers: IncomingHttpHeaders): ForwardedHops {
  if (headers['x-forwarded-for'] === undefined && headers['forwarded'] !== undefined)
    return readStandard(headers['forwarded']);
  return {
    addresses: listOf(headers['x-forwarded-for']),
    schemes: listOf(headers['x-forwarded-proto']),
    hosts: listOf(headers['x-forwarded-host']),
  };
}

/** Accepts `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7` and `[2001:db8::7]:80`; undefined otherwise. */
export function parseHop(entry: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
  return isIP(bare) === 0 ? undefined : plainAddress(bare);
}

function listOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return String(header)
    .split(',')
    .slice(-maxHops)
    .map((entry) => entry.trim());
}

function readStandard(header: string): ForwardedHops {
  const elements = (header.match(/(?:[^,"]|"[^"]*")+/g) ?? []).slice(-maxHops).map(parametersOf);
  const all = (name: string) => elements.map((parameters) => parameters.get(name) ?? '');
  return { addresses: all('for'), schemes: all('proto'), hosts: all('host') };
}

function parametersOf(element: string): Map<string, string> {
  const pairs = (element.match(/(?:[^;"]|"[^"]*")+/g) ?? []).map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim().toLowerCase(), value.join('=').trim().replaceAll('"', '')] as const;
  });
  return new Map(pairs);
}

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { unmapAddress } from '#core/platform/names/loopback.ts';

/** Data that proxies report about the connections in front of them, nearest proxy last. */
interface ForwardedHops {
  readonly addresses: readonly string[];
  readonly schemes: readonly string[];
  readonly hosts: readonly string[];
}

const maxHops = 32; // counted from the nearest one

/**
 * Reads `X-Forwarded-For`, `-Proto` and `-Host`, or `Forwarded` (RFC 7239) if there is no `X-Forwarded-For`. It never mixes the two,
 * because a proxy that writes one forwards the other as sent by the client. The limit of the request head bounds the headers' size.
 */
export function readForwarded(headers: IncomingHttpHeaders): ForwardedHops {
  if (headers['x-forwarded-for'] === undefined && headers['forwarded'] !== undefined)
    return parseForwarded(headers['forwarded']);
  return {
    addresses: splitList(headers['x-forwarded-for']),
    schemes: splitList(headers['x-forwarded-proto']),
    hosts: splitList(headers['x-forwarded-host']),
  };
}

/** Parses `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7` and `[2001:db8::7]:80`; returns undefined for anything else. */
export function parseHop(entry: string): string | undefined {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
  return isIP(address) === 0 ? undefined : unmapAddress(address);
}

function splitList(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return String(header)
    .split(',')
    .slice(-maxHops)
    .map((entry) => entry.trim());
}

function parseForwarded(header: string): ForwardedHops {
  const elements = (header.match(/(?:[^,"]|"[^"]*")+/g) ?? []).slice(-maxHops).map(parseParameters);
  const valuesOf = (name: string) => elements.map((parameters) => parameters.get(name) ?? '');
  return { addresses: valuesOf('for'), schemes: valuesOf('proto'), hosts: valuesOf('host') };
}

function parseParameters(element: string): Map<string, string> {
  const pairs = (element.match(/(?:[^;"]|"[^"]*")+/g) ?? []).map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim().toLowerCase(), value.join('=').trim().replaceAll('"', '')] as const;
  });
  return new Map(pairs);
}

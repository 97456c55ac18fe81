import { failed, type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { parseHop, readForwarded } from '#core/gateway/http/forwarded.ts';
import { describeUnexpectedResponse, type PublicCaller } from '../caller.ts';
import { type Arrival, publicPaths } from '../paths.ts';
import { parseArrival } from './request.ts';

const forgedAddress = '192.0.2.77'; // from a documentation range (RFC 5737), so not in use
const replaceAdvice =
  "Let the proxy replace X-Forwarded-For, -Proto and -Host, and never forward or append to the client's headers (docs/proxies.md).";

export async function checkClientAddress(
  caller: PublicCaller,
  isSecure: boolean,
  signal: AbortSignal,
): Promise<Finding> {
  const forgeries = [
    { 'x-forwarded-for': forgedAddress, 'x-forwarded-proto': 'gopher' },
    { forwarded: `for=${forgedAddress};proto=gopher` },
  ];
  const findings = [];
  for (const headers of forgeries) {
    const response = await caller.call(publicPaths.arrived, { headers, signal });
    const arrival = parseArrival(response);
    if (arrival === undefined) return describeUnexpectedResponse(response, replaceAdvice);
    findings.push(describeArrival(arrival, isSecure));
  }
  return findings.find(({ state }) => state !== 'ok') ?? (findings[0] as Finding);
}

/** `arrival` is the echo of a request sent with a forged address. */
export function describeArrival({ address, headers }: Arrival, isSecure: boolean): Finding {
  if (address === forgedAddress) return describeForgery(headers);
  const { addresses, schemes } = readForwarded(headers);
  const { addresses: forwardedAddresses } = readForwarded({ forwarded: headers['forwarded'] });
  const hops = [...addresses, ...forwardedAddresses].map((entry) => parseHop(entry) ?? entry);
  if (hops.every((hop) => hop === forgedAddress || hop === '')) {
    const text = `no proxy reports the client address; the gateway sees ${address}`;
    return warning(
      text,
      'If the gateway is behind a proxy, configure it to set X-Forwarded-For and X-Forwarded-Proto.',
    );
  }
  if (!hops.includes(address)) {
    const text = `all clients appear with the address of the proxy, ${address}`;
    return warning(text, `Add ${address} to listen.trusted_proxies.`);
  }
  const scheme = schemes.at(-1) ?? '';
  if (isSecure && scheme !== 'https') {
    const source = headers['x-forwarded-for'] === undefined ? '`proto` in Forwarded' : 'X-Forwarded-Proto';
    const text = `${source} is "${scheme.slice(0, 40)}", not https, so cookies are not marked Secure`;
    return failed(text, replaceAdvice);
  }
  return ok(`the gateway sees ${address}`);
}

function describeForgery(headers: Arrival['headers']): Finding {
  const { addresses } = readForwarded(headers);
  const lastHop = addresses.at(-1) ?? '';
  if (addresses.length > 1 && lastHop !== forgedAddress) {
    const text = `the proxy appends ${lastHop}, which listen.trusted_proxies contains, so the forged address before it is trusted`;
    return warning(text, 'Run this from a machine that is not a proxy, or let the proxy replace X-Forwarded-For.');
  }
  return failed('clients can spoof their address: the gateway trusts the header as it was sent', replaceAdvice);
}

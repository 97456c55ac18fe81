import { failed, type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpected, type PublicCaller } from '../caller.ts';
import { type Arrival, publicPaths } from '../paths.ts';
import { arrivalOf } from './request.ts';

/** An address from a documentation range (RFC 5737), so not in use. */
const forged = '192.0.2.77';
const replace =
  'Let the proxy replace X-Forwarded-For, -Proto and -Host, and never pass on or add to what a client sends (docs/proxies.md).';

/** Checks that the gateway knows the address of a client, and that a client cannot choose it. */
export async function checkForwarded(caller: PublicCaller, isSecure: boolean, signal: AbortSignal): Promise<Finding> {
  const forgeries = [
    { 'x-forwarded-for': forged, 'x-forwarded-proto': 'gopher' },
    { forwarded: `for=${forged};proto=gopher` },
  ];
  const findings = [];
  for (const headers of forgeries) {
    const answer = await caller.call(publicPaths.arrived, { headers, signal });
    const arrival = arrivalOf(answer);
    if (arrival === undefined) return describeUnexpected(answer, replace);
    findings.push(describeArrival(arrival, isSecure));
  }
  return findings.find(({ state }) => state !== 'ok') ?? (findings[0] as Finding);
}

/** @param arrival of a request with a forged address */
export function describeArrival({ address, headers }: Arrival, isSecure: boolean): Finding {
  const addresses = (headers['x-forwarded-for'] ?? '').split(',').map((entry) => entry.trim());
  const added = addresses.at(-1) ?? '';
  if (address === forged && addresses.length > 1 && added !== forged) {
    const text = `the proxy adds ${added} to what a client sends, and listen.trusted_proxies has that address: it is believed`;
    return warning(text, 'Try from a machine that is no proxy, or let the proxy replace X-Forwarded-For.');
  }
  if (address === forged) {
    const text = 'a client chooses its own address: what it sends is trusted';
    return failed(text, replace);
  }
  const isBehindProxy = headers['x-forwarded-for'] !== undefined && addresses.some((entry) => entry !== forged);
  const standard = headers['forwarded'] ?? '';
  if (isBehindProxy && !addresses.some((entry) => entry.includes(address))) {
    const text = `all clients have the address of the proxy, ${address}`;
    return warning(text, `Add ${address} to listen.trusted_proxies.`);
  }
  if (!isBehindProxy && (standard === '' || standard.includes(forged))) {
    const text = `no proxy says who calls; the gateway sees ${address}`;
    return warning(text, 'If a proxy stands before the gateway, let it set X-Forwarded-For and X-Forwarded-Proto.');
  }
  const scheme = headers['x-forwarded-proto'] ?? '';
  if (isBehindProxy && isSecure && scheme.split(',').at(-1)?.trim() !== 'https') {
    const text = `X-Forwarded-Proto is "${scheme.slice(0, 40)}", not https: cookies are not Secure`;
    return failed(text, replace);
  }
  return ok(`the gateway sees ${address}`);
}

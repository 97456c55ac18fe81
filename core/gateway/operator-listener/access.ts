import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback, unmapAddress } from '#core/platform/names/loopback.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';

interface OperatorAccess {
  readonly token?: string | undefined;
  readonly names: readonly string[]; // in addition to loopback names and the listener's own address; `*.` is a wildcard
}

export interface OperatorRequest {
  readonly headers: IncomingHttpHeaders;
  readonly localAddress: string | undefined; // undefined on a Unix socket, which browsers cannot reach
}

interface AccessRefusal {
  readonly status: 401 | 403 | 421;
  readonly message: string;
}

/**
 * Returns the reason for refusing a request; undefined if it is allowed.
 *
 * - The Host header must contain a known name, which excludes pages that use DNS rebinding.
 * - Pages of other sites must not send requests, even if they could not read the responses.
 * - If a token is configured, every request must send it.
 */
export function checkAccess(request: OperatorRequest, access: OperatorAccess): AccessRefusal | undefined {
  const { headers, localAddress } = request;
  if (localAddress !== undefined && !isKnownHost(headers.host, localAddress, access.names))
    return { status: 421, message: 'Unknown host. Use localhost or an address, or add the name to operator.names.' };
  if (isCrossSite(headers)) return { status: 403, message: 'Requests from pages of other sites are refused.' };
  if (access.token !== undefined && !hasToken(headers.authorization, access.token))
    return { status: 401, message: 'Send operator.token in the header "Authorization: Bearer".' };
  return undefined;
}

function isKnownHost(header: string | undefined, localAddress: string, names: readonly string[]): boolean {
  const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d*)?$/
    .exec(header ?? '')
    ?.slice(1)
    .find((part) => part !== undefined);
  if (host === undefined) return false;
  const name = host.toLowerCase().replace(/\.$/, '');
  return isLoopback(name) || name === unmapAddress(localAddress) || names.some((pattern) => matchesName(name, pattern));
}

function matchesName(name: string, pattern: string): boolean {
  const lowerPattern = pattern.toLowerCase();
  return lowerPattern.startsWith('*.') ? name.endsWith(lowerPattern.slice(1)) : name === lowerPattern;
}

function isCrossSite({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  // Browsers send Sec-Fetch-Site to loopback and HTTPS origins, and Origin with all requests except plain navigation.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

function hasToken(header: string | undefined, token: string): boolean {
  const sentToken = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
  return sentToken !== undefined && isSameSecret(sentToken, token);
}

import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback, plainAddress } from '#core/platform/names/loopback.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';

interface OperatorAccess {
  readonly token?: string | undefined;
  /** Additional names for the Host header, besides loopback names and the listener's own address. `*.` is a wildcard. */
  readonly names: readonly string[];
}

/** The parts of a request that determine access. */
export interface OperatorRequest {
  readonly headers: IncomingHttpHeaders;
  /** Local address of the request; undefined on a Unix socket, which browsers cannot reach. */
  readonly localAddress: string | undefined;
}

interface AccessRefusal {
  readonly status: 401 | 403 | 421;
  readonly message: string;
}

/**
 * Decides whether a request is rejected; undefined if it may be answered.
 *
 * - The host must be known: a page whose name resolves to this machine (DNS rebinding) sends its own name.
 * - Pages of other sites may not send requests, not even simple ones whose responses they cannot read.
 * - If a token is configured, every request must send it.
 */
export function refuseAccess(request: OperatorRequest, access: OperatorAccess): AccessRefusal | undefined {
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
  return isLoopback(name) || name === plainAddress(localAddress) || names.some((known) => isNamed(name, known));
}

function isNamed(name: string, known: string): boolean {
  const lower = known.toLowerCase();
  return lower.startsWith('*.') ? name.endsWith(lower.slice(1)) : name === lower;
}

/** Browsers send Sec-Fetch-Site to loopback and HTTPS origins, and Origin with everything but plain navigation. */
function isCrossSite({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

function hasToken(header: string | undefined, token: string): boolean {
  const sent = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
  return sent !== undefined && isSameSecret(sent, token);
}

import { hostname } from 'node:os';
import type { Request } from '@hapi/hapi';
import { isLoopback, unmapAddress } from '#core/platform/names/loopback.ts';
import type { Host } from '../host/host.ts';
import { clientConnection } from './client-connection.ts';

const forwardedHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Returns true for a browser on the gateway's machine that uses a local host name or the host of `service.base_url`. Requests through an
 * untrusted local proxy do not count, because they could come from anywhere. Neither do requests for any other host name, which a malicious
 * website could make by DNS rebinding.
 */
export function isFromThisMachine(
  request: Pick<Request, 'info' | 'raw'>,
  host: Pick<Host, 'section' | 'service'>,
): boolean {
  const { headers } = request.raw.req;
  const { address, host: hostHeader = '' } = clientConnection(request, host);
  // `clientConnection` only looks behind trusted proxies, so a different address means that there was one.
  const hasTrustedProxy = unmapAddress(request.info.remoteAddress) !== address;
  const isForwarded = forwardedHeaders.some((header) => headers[header] !== undefined);
  if (isForwarded && !hasTrustedProxy) return false;
  return isLoopback(address) && isOwnHost(hostHeader, host.service);
}

function isOwnHost(hostHeader: string, service: Host['service']): boolean {
  const url = URL.parse(`http://${hostHeader}`);
  if (url === null) return false;
  const name = url.hostname.replace(/\.$/, ''); // a trailing dot marks a fully qualified name
  return isLoopback(name) || name === hostname().toLowerCase() || url.host === URL.parse(service.baseUrl)?.host;
}

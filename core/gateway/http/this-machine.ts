import { hostname } from 'node:os';
import type { Request } from '@hapi/hapi';
import { isLoopback, unmapAddress } from '#core/platform/names/loopback.ts';
import type { Host } from '../host/host.ts';
import { clientConnection } from './client-connection.ts';

const forwardedHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Returns true for a browser on the gateway's machine that uses a local host name or the host of `service.base_url`. A request through an
 * untrusted local proxy is rejected, because it could originate anywhere, and one with another host name, because a page could use DNS
 * rebinding.
 */
export function isFromThisMachine(
  request: Pick<Request, 'info' | 'raw'>,
  host: Pick<Host, 'section' | 'service'>,
): boolean {
  const { headers } = request.raw.req;
  const { address, host: hostHeader = '' } = clientConnection(request, host);
  const hasTrustedProxy = unmapAddress(request.info.remoteAddress) !== address;
  const isForwarded = forwardedHeaders.some((header) => headers[header] !== undefined);
  if (isForwarded && !hasTrustedProxy) return false;
  return isLoopback(address) && isOwnHost(hostHeader, host);
}

function isOwnHost(hostHeader: string, { service }: Pick<Host, 'service'>): boolean {
  const url = URL.parse(`http://${hostHeader}`);
  if (url === null) return false;
  const hostName = url.hostname.replace(/\.$/, '');
  return isLoopback(hostName) || hostName === hostname().toLowerCase() || url.host === URL.parse(service.baseUrl)?.host;
}

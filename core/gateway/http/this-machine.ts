import { hostname } from 'node:os';
import type { Request } from '@hapi/hapi';
import { isLoopback, unmapAddress } from '#core/platform/names/loopback.ts';
import type { Host } from '../host/host.ts';
import { clientConnection } from './client-connection.ts';

const forwardedHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * True for a browser on the gateway's machine that uses a local host name. Requests of an untrusted local proxy do not count, because they
 * may come from anyone. Neither do requests with another host name, which may come from a page that uses DNS rebinding.
 */
export function isFromThisMachine(
  request: Pick<Request, 'info' | 'raw'>,
  host: Pick<Host, 'section' | 'service'>,
): boolean {
  const { headers } = request.raw.req;
  const { address, host: name = '' } = clientConnection(request, host);
  const isDirect = unmapAddress(request.info.remoteAddress) === address;
  if (isDirect && forwardedHeaders.some((header) => headers[header] !== undefined)) return false;
  return isLoopback(address) && isLocalName(name, host);
}

function isLocalName(hostHeader: string, { service }: Pick<Host, 'service'>): boolean {
  const url = URL.parse(`http://${hostHeader}`);
  if (url === null) return false;
  const name = url.hostname.replace(/\.$/, '');
  return isLoopback(name) || name === hostname().toLowerCase() || url.host === URL.parse(service.baseUrl)?.host;
}

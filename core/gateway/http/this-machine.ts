import { hostname } from 'node:os';
import type { Request } from '@hapi/hapi';
import type { Host } from '../host/host.ts';
import { clientConnection } from './client-connection.ts';
import { isLoopback, plainAddress } from '#core/platform/names/loopback.ts';

const forwardedHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Returns true for a browser on the gateway's machine that uses a local name. An untrusted proxy forwards for anyone, and a page whose name
 * resolves to this machine (DNS rebinding) sends its own name.
 */
export function isFromThisMachine(
  request: Pick<Request, 'info' | 'raw'>,
  host: Pick<Host, 'section' | 'service'>,
): boolean {
  const { headers } = request.raw.req;
  const { address, host: name = '' } = clientConnection(request, host);
  const isDirect = plainAddress(request.info.remoteAddress) === address;
  if (isDirect && forwardedHeaders.some((header) => headers[header] !== undefined)) return false;
  return isLoopback(address) && isLocalName(name, host);
}

function isLocalName(header: string, { service }: Pick<Host, 'service'>): boolean {
  const url = URL.parse(`http://${header}`);
  if (url === null) return false;
  const name = url.hostname.replace(/\.$/, '');
  return isLoopback(name) || name === hostname().toLowerCase() || url.host === URL.parse(service.baseUrl)?.host;
}

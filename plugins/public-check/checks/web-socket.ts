import type { IncomingMessage } from 'node:http';
import { type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpectedResponse, type PublicCaller, readResponse } from '../caller.ts';
import { publicPaths } from '../paths.ts';
import { parseArrival } from './request.ts';

const testMessage = 'Hello';
const upgradeAdvice =
  'The proxy must forward `Upgrade`: upgrade=websocket in Apache, upgrade_configs in Envoy, two headers in nginx (docs/proxies.md). Without it clients use HTTP.';

export async function checkWebSocket(caller: PublicCaller, signal: AbortSignal): Promise<Finding> {
  const { WebSocket } = await import('ws');
  const { url, headers } = caller.prepareRequest(publicPaths.upgrade);
  const socket = new WebSocket(url.href.replace(/^http/, 'ws'), { headers, perMessageDeflate: false });
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Finding>();
  signal.addEventListener('abort', () => socket.terminate());
  socket.on('open', () => socket.send(testMessage));
  socket.on('message', (data: Buffer) => {
    if (data.toString() === testMessage) resolve(ok('opens, and carries messages'));
  });
  socket.on('close', () => resolve(warning('opens, but carries no messages', upgradeAdvice)));
  socket.on('unexpected-response', (_request, response) => {
    describeRefusal(response, startedAt).then(resolve, reject);
  });
  socket.on('error', reject);
  return promise.finally(() => socket.terminate());
}

async function describeRefusal(response: IncomingMessage, startedAt: number): Promise<Finding> {
  const publicResponse = await readResponse(response, startedAt);
  const arrival = parseArrival(publicResponse);
  if (arrival === undefined) return { ...describeUnexpectedResponse(publicResponse, upgradeAdvice), state: 'warning' };
  if (arrival.headers['upgrade']?.toLowerCase() === 'websocket')
    return ok("the request arrives, but the gateway's Node.js does not accept WebSockets");
  return warning('the proxy drops `Upgrade`', upgradeAdvice);
}

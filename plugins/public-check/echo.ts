import type { WebSocket } from 'ws';
import type { Host } from '#core/gateway/host/host.ts';
import type { SocketEndpoint } from '#core/gateway/http/upgrades.ts';
import { toGatewayError } from '#core/platform/errors/table.ts';
import { requirePass } from './passes.ts';
import { echoEndpoint } from './paths.ts';

const limits = { openMs: 30_000, messageBytes: 1_000 };

export function createEchoSocket(host: () => Host): SocketEndpoint {
  const openSockets = new Set<WebSocket>();
  return {
    endpoint: echoEndpoint,
    isServed: () => true,
    async open({ request, socket, head, path, refuse }) {
      try {
        await requirePass({ headers: request.headers, path }, host());
      } catch (error) {
        refuse(toGatewayError(error));
        return;
      }
      const { WebSocketServer } = await import('ws');
      const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: limits.messageBytes });
      server.handleUpgrade(request, socket, head, (client) => {
        const timer = setTimeout(() => client.terminate(), limits.openMs);
        openSockets.add(client);
        client.on('error', () => client.terminate());
        client.on('message', (data) => client.send(data));
        client.once('close', () => {
          clearTimeout(timer);
          openSockets.delete(client);
        });
      });
    },
    drain() {
      for (const client of openSockets) client.close();
    },
  };
}

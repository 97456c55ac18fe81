import type { Server } from '@hapi/hapi';
import { gauge } from '#core/gateway/health/gauge.ts';
import type { SocketFront } from './front.ts';
import { websocketSection } from './section.ts';

export function registerSocket(server: Server): void {
  let front: SocketFront | undefined;
  // Loaded when the server starts, because commands do not serve requests.
  server.ext('onPreStart', async () => {
    const { SocketFront } = await import('./front.ts');
    front = new SocketFront(server, 'responses');
  });
  server.gateway.section(websocketSection);
  server.gateway.socket({
    endpoint: 'responses',
    // Until the server has started, upgrades count as requests, which the starting listener rejects.
    isServed: (host) => front !== undefined && host.section(websocketSection).enabled,
    open: async (upgrade) => front?.open(upgrade),
    drain: () => front?.drain(),
  });
  server.gateway.gauge(gauge('websockets', 'Open WebSockets.', () => front?.count ?? 0));
  server.gateway.gauge(
    gauge(
      'websocket_kept_bytes',
      'Bytes of the conversations that open WebSockets can continue.',
      () => front?.keptBytes ?? 0,
    ),
  );
}

import type { Server } from '@hapi/hapi';
import { gauge } from '#core/gateway/health/gauge.ts';
import { SocketFront } from './front.ts';
import { websocketSection } from './section.ts';

/** Serves the Responses API over WebSockets too. */
export function registerSocket(server: Server): void {
  const front = new SocketFront(server, 'responses');
  server.gateway.section(websocketSection);
  server.gateway.socket(front);
  server.gateway.gauge(gauge('websockets', 'Open WebSockets.', () => front.count));
  server.gateway.gauge(
    gauge(
      'websocket_kept_bytes',
      'Bytes of the conversations that open WebSockets can continue.',
      () => front.keptBytes,
    ),
  );
}

import type { WebSocket } from 'ws';
import type { Upgrade } from '#core/gateway/http/upgrades.ts';
import { chooseProtocol } from './handshake.ts';

const closeTimeoutMs = 5_000; // for the client to answer a close frame

/** Responds to an upgrade with 101. Responds to an invalid handshake with an error, and the promise then stays pending. */
export type Acceptor = (upgrade: Upgrade, maxBytes: number) => Promise<WebSocket>;

/** Loads the framing library only when it is needed, because most gateways never need it. */
export async function loadAcceptor(): Promise<Acceptor> {
  const { WebSocketServer } = await import('ws');
  const servers = new Map<number, InstanceType<typeof WebSocketServer>>();
  const createServer = (maxPayload: number) => {
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Compression takes memory for each connection, and lets a client send little data that expands to a lot.
      perMessageDeflate: false,
      // Many small messages in one packet are read in separate turns of the event loop.
      allowSynchronousEvents: false,
      closeTimeout: closeTimeoutMs,
      maxPayload,
      handleProtocols: chooseProtocol,
    } as ConstructorParameters<typeof WebSocketServer>[0]);
    // Codex sends longer messages by POST.
    server.on('headers', (headers) => headers.push(`x-codex-websocket-max-message-bytes: ${maxPayload}`));
    return server;
  };
  return ({ request, socket, head }, maxBytes) => {
    const server = servers.get(maxBytes) ?? createServer(maxBytes);
    servers.set(maxBytes, server);
    const { promise, resolve } = Promise.withResolvers<WebSocket>();
    server.handleUpgrade(request, socket, head, resolve);
    return promise;
  };
}

import type { Server } from '@hapi/hapi';
import { expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import type { SocketEndpoint } from '#core/gateway/http/upgrades.ts';
import { registerSocket } from '../../../../plugins/format/socket/register.ts';

it('no WebSocket is opened before the server has started', async () => {
  const starting: (() => Promise<void>)[] = [];
  const sockets: SocketEndpoint[] = [];
  const gateway = {
    section: () => undefined,
    gauge: () => undefined,
    socket: (socket: SocketEndpoint) => void sockets.push(socket),
  };
  const server = { gateway, ext: (_event: string, start: () => Promise<void>) => void starting.push(start) };
  registerSocket(server as unknown as Server);
  const host = { section: () => ({ enabled: true }) } as unknown as Host;
  expect(sockets.map((socket) => socket.isServed(host))).toEqual([false]);
  for (const start of starting) await start();
  expect(sockets.map((socket) => socket.isServed(host))).toEqual([true]);
});

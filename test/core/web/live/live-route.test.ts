import { Server } from '@hapi/hapi';
import { expect, it, vi } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { routeLivePages } from '#core/web/live/live-route.ts';
import type { Page } from '#core/web/pages/page.ts';

it('a gateway that stops without open pages does not begin to listen to other instances', async () => {
  const host = createTestHost();
  const keep = vi.spyOn(host, 'keep');
  const server = new Server();
  server.auth.scheme('none', () => ({ authenticate: (_request, h) => h.authenticated({ credentials: {} }) }));
  server.auth.strategy('session', 'none');
  const page = { path: '/parcels', role: 'public', live: { parts: {} } } as unknown as Page;
  routeLivePages(server, [page], { host: () => host } as unknown as Parameters<typeof routeLivePages>[2]);
  await server.initialize();
  await server.stop();
  expect(keep).not.toHaveBeenCalled();
});

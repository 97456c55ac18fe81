import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createServer } from '#core/gateway/http/server.ts';
import { silentLog } from '../../../support/database.ts';

it('events are not compressed, since compression would hold them back', async () => {
  const { server } = createServer(silentLog);
  const body = `data: ${'x'.repeat(5_000)}\n\n`;
  server.route({
    method: 'GET',
    path: '/events',
    handler: (_request, h) => h.response(Readable.from([body], { objectMode: false })).type('text/event-stream'),
  });
  const { headers, payload } = await server.inject({ url: '/events', headers: { 'accept-encoding': 'gzip' } });
  expect([headers['content-encoding'], payload]).toEqual([undefined, body]);
});

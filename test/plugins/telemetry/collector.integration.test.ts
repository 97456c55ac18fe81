import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Collector } from '../../../plugins/telemetry/collector.ts';

/** What becomes of one span at a collector that answers so. @param timeout s */
async function sendTo(answer: RequestListener, timeout: number) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new Collector({ endpoint, headers: '', timeout }, { attributes: [] }).send('traces', [{}]);
}

it('an answer without an end is not read until the timeout', async () => {
  const piece = Buffer.alloc(65_536, 32);
  const began = performance.now();
  const sent = await sendTo((_request, response) => {
    const write = () => void (!response.destroyed && response.write(piece, () => setImmediate(write)));
    write();
  }, 30);
  expect(sent).toMatchObject({ kind: 'taken', rejected: 0 });
  expect(performance.now() - began).toBeLessThan(20_000);
});

it.each<[string, RequestListener]>([
  ['a collector that takes the connection and never answers', () => undefined],
  ['a collector that stops after its head', (_request, response) => response.flushHeaders()],
])('%s is asked again later', async (_, answer) => {
  expect(await sendTo(answer, 0.2)).toMatchObject({ kind: 'later', after: 0 });
});

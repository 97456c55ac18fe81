import { expect, it } from 'vitest';
import { chunk, Stand, streamedChat } from './stand.ts';

const stand = Stand.use('write_timeout: 1');

it('a client that stops reading is given up: its upstream is closed, and the record says why', async () => {
  const events = `data: ${JSON.stringify(chunk('x'.repeat(64 * 1024)))}\n\n`;
  stand.answer = async (_request, response) => {
    response.sse();
    // More than the system keeps in its sockets.
    for (let written = 0; written < 2_000; written++) await response.write(events);
  };
  using client = await stand.connect();
  client.socket.pause();
  const head = stand.post(`Content-Type: application/json\r\nContent-Length: ${streamedChat.length}\r\n`);
  client.send(head + streamedChat);
  expect(await stand.upstream.waitForClose(1)).toBe('client left');
  const [row] = await stand.records();
  expect(row).toMatchObject({
    outcome: 'aborted',
    status: 200,
    error_code: 'request_timeout',
    attempts: [{ route: 'one/model-there', outcome: 'aborted' }],
  });
});

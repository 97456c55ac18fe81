import { expect, it } from 'vitest';
import { chunk, ClientFaultFixture, streamedChat } from './fixture.ts';

const fixture = ClientFaultFixture.use('write_timeout: 1');

it('a client that stops reading is disconnected, its upstream closed, and the record has the reason', async () => {
  const events = `data: ${JSON.stringify(chunk('x'.repeat(64 * 1024)))}\n\n`;
  fixture.answer = async (_request, response) => {
    response.sse();
    // More than the system buffers in its sockets.
    for (let written = 0; written < 2_000; written++) await response.write(events);
  };
  using client = await fixture.connect();
  client.socket.pause();
  const head = fixture.post(`Content-Type: application/json\r\nContent-Length: ${streamedChat.length}\r\n`);
  client.send(head + streamedChat);
  expect(await fixture.upstream.waitForClose(1)).toBe('client left');
  const [row] = await fixture.records();
  expect(row).toMatchObject({
    outcome: 'aborted',
    status: 200,
    error_code: 'request_timeout',
    attempts: [{ route: 'one/model-there', outcome: 'aborted' }],
  });
});

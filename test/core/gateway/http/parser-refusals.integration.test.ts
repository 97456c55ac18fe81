import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ParserRefusals } from '#core/gateway/http/parser-refusals.ts';
import { createLogger } from '#core/platform/logger.ts';

let lines: string[];
let server: ReturnType<typeof createServer>;
let refusals: ParserRefusals;
beforeEach(async () => {
  lines = [];
  refusals = new ParserRefusals(createLogger((line) => void lines.push(line)));
  server = createServer({ requireHostHeader: false }, (_request, response) => response.end('ok'));
  refusals.attach(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function send(text: string): Promise<string> {
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
  socket.end(text);
  await once(socket, 'close');
  return answer;
}

it('a thousand malformed requests are all counted, and make one line in the log without their bytes', async () => {
  for (let sent = 0; sent < 1_000; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, () => send('GET\r\nsecret-key\r\n\r\n')));
  }
  expect([...(await refusals.gauge.read(undefined as never))]).toEqual([
    { value: 1_000, labels: { reason: 'malformed' } },
  ]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/request from 127\.0\.0\.1 refused with 400 before it could be read: HPE_\w+/);
  expect(lines[0]).not.toContain('secret-key');
});

it('a refused body counts as well, and gets one answer', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const answer = await send(`${head}zz\r\n`);
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect([...(await refusals.gauge.read(undefined as never))]).toMatchObject([{ value: 1 }]);
});

it.each([
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed'],
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n', 400, 'malformed'],
  ['the same Host header twice', 'GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', 400, 'malformed'],
  [
    'another transfer coding before chunked',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    501,
    'malformed',
  ],
  ['an unknown Expect header', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n', 417, 'expectation'],
])(
  'a request with %s gets an error as JSON, counts, and does not reach a handler',
  async (_what, text, status, reason) => {
    const answer = await send(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect([...(await refusals.gauge.read(undefined as never))]).toEqual([{ value: 1, labels: { reason } }]);
  },
);

it('a request of HTTP/1.0 needs no Host header', async () => {
  expect(await send('GET / HTTP/1.0\r\n\r\n')).toMatch(/ok$/);
});

import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { answers } from '../plugins/upstream/streams-fixture.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import type { TextFormat } from '../support/formats.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

const MiB = 1024 * 1024;
/** The answer of the upstream. */
const wholeBytes = 200 * MiB;
const readers = 6;
/** What systems buffer in the sockets of two connections, outside the gateway's memory. */
const socketBytes = 24 * MiB;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let written = 0;
let upstream: FaultyUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await createUpstream(async ({ path }, response) => {
    const { opening, content } = answers[path.includes('/responses') ? 'responses' : 'chat'];
    const events = content[0]?.repeat(256) ?? '';
    response.sse();
    await response.write(opening.join(''));
    for (let sent = 0; sent < wholeBytes; sent += events.length) {
      await response.write(events);
      written += events.length;
    }
    response.end();
  });
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams:
  chat: { format: chat, base_url: "${upstream.url}" }
  responses: { format: responses, base_url: "${upstream.url}" }
models: { chat: { routes: [chat/m] }, responses: { routes: [responses/m] } }
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

/** Sends a request and never reads the answer. */
async function askAndLook(path: string, body: object): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).pause();
  await new Promise((resolve) => socket.once('connect', resolve));
  const text = JSON.stringify({ ...body, stream: true });
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
}

function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Waits until the upstream can write no more: several samples in a row are equal. */
async function untilStalled(): Promise<void> {
  let last = -1;
  let looks = 0;
  const hasStalled = () => {
    looks = written > 0 && written === last ? looks + 1 : 0;
    last = written;
    expect(looks).toBeGreaterThanOrEqual(10);
  };
  await vi.waitFor(hasStalled, { timeout: 60_000, interval: 100 });
}

const messages = [{ role: 'user', content: 'hi' }];
const questions: [string, TextFormat, string, object][] = [
  ['passed through', 'chat', '/v1/chat/completions', { model: 'chat', messages, temperature: 0 }],
  ['passed through and stored', 'responses', '/v1/responses', { model: 'responses', input: 'hi' }],
  ['translated', 'messages', '/v1/messages', { model: 'chat', messages, max_tokens: 9 }],
  ['translated', 'responses', '/v1/responses', { model: 'chat', input: 'hi' }],
];

describe('a client that does not read', () => {
  it.each(questions)('slows its upstream, and uses 5 MB at most, on a stream that is %s (%s)', async (...question) => {
    const [, , path, body] = question;
    const count = upstream.requests.length + 1;
    const before = memory();
    written = 0;
    const sockets = await Promise.all(Array.from({ length: readers }, () => askAndLook(path, body)));
    await untilStalled();
    expect(upstream.requests).toHaveLength(count + readers - 1);
    expect(written / readers).toBeLessThan(socketBytes);
    expect((memory() - before) / readers).toBeLessThan(5 * MiB);
    for (const socket of sockets) socket.destroy();
    for (let index = 0; index < readers; index++) {
      expect(await upstream.waitForClose(count + index)).toBe('client left');
    }
  });
});

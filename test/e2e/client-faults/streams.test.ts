import { describe, expect, it, vi } from 'vitest';
import { chatBody, chat, chunk, lastChunk, ClientFaultFixture, streamedChat } from './fixture.ts';

const fixture = ClientFaultFixture.use();

describe('a client that leaves', () => {
  it.each([
    ['before the first byte of an answer', chat],
    ['before the first byte of a stream', streamedChat],
  ])('%s: its upstream is closed, no other route is tried', async (_name, body) => {
    fixture.answer = () => undefined;
    const count = fixture.upstream.requests.length + 1;
    using client = await fixture.connect();
    client.send(fixture.post(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body);
    await fixture.upstream.waitForRequest(count);
    client.socket.destroy();
    expect(await fixture.upstream.waitForClose(count)).toBe('client left');
    const [row] = await fixture.records();
    expect(row).toMatchObject({
      outcome: 'aborted',
      status: null,
      error_code: null,
      attempts: [{ route: 'one/model-there', outcome: 'aborted' }],
    });
    expect(fixture.upstream.requests).toHaveLength(count);
  });

  it('a client that leaves mid-stream closes its upstream, and nothing is kept', async () => {
    fixture.answer = (_request, response) => response.sse(chunk('hello'));
    const count = fixture.upstream.requests.length + 1;
    const body = JSON.stringify({ ...chatBody, stream: true, user: fixture.agent });
    const head = fixture.post(
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nX-Service-Cache: 60\r\n`,
    );
    using client = await fixture.connect();
    client.send(head + body);
    await client.waitFor('\n\n\r\n');
    const [event = ''] = /data: .*\n\n/.exec(client.received) ?? [];
    client.socket.destroy();
    expect(await fixture.upstream.waitForClose(count)).toBe('client left');
    const [row] = await fixture.records();
    expect(row).toMatchObject({
      outcome: 'aborted',
      status: 200,
      error_code: null,
      bytes_out: String(event.length),
      attempts: [{ route: 'one/model-there', outcome: 'aborted' }],
    });

    fixture.answer = (_request, response) => {
      response.sse(chunk('again'), lastChunk, '[DONE]');
      response.end();
    };
    const again = await fixture.ask(body, { headers: { 'x-service-cache': '60' } });
    expect(await again.text()).toContain('again');
    expect(again.headers.get('x-service-cache')).toBe('miss');
  });
});

describe('a stream', () => {
  it('a stream is not read from the upstream faster than the client reads', async () => {
    const content = 'x'.repeat(64 * 1024);
    const most = 200;
    let written = 0;
    fixture.answer = async (_request, response) => {
      response.sse();
      while (written < most * content.length) {
        let isOver = false;
        void response.closed.then(() => {
          isOver = true;
        });
        await response.event(chunk(content));
        if (isOver) return;
        written += content.length;
      }
    };
    const count = fixture.upstream.requests.length + 1;
    using client = await fixture.connect();
    client.socket.pause();
    const head = fixture.post(`Content-Type: application/json\r\nContent-Length: ${streamedChat.length}\r\n`);
    client.send(head + streamedChat);
    await fixture.upstream.waitForRequest(count);
    let before = -1;
    await vi.waitFor(
      () => {
        const isStalled = written > 0 && written === before;
        before = written;
        expect(isStalled).toBe(true);
      },
      { timeout: 15_000, interval: 500 },
    );
    // The buffers of two sockets in the kernel, and what the gateway holds.
    expect(written).toBeLessThan(most * content.length);
    client.socket.destroy();
    expect(await fixture.upstream.waitForClose(count)).toBe('client left');
  });

  it('a stream arrives event by event at a client that accepts gzip', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    fixture.answer = async (_request, response) => {
      response.sse();
      await response.event(chunk('first'));
      await gates[0]?.promise;
      await response.event(chunk('second'));
      await gates[1]?.promise;
      await response.event(lastChunk);
      await response.event('[DONE]');
      response.end();
    };
    using client = await fixture.connect();
    const headers = `Content-Type: application/json\r\nAccept-Encoding: gzip, br\r\nConnection: close\r\nContent-Length: ${streamedChat.length}\r\n`;
    client.send(fixture.post(headers) + streamedChat);
    await client.waitFor('first');
    expect(client.received).not.toContain('second');
    gates[0]?.resolve();
    await client.waitFor('second');
    expect(client.received).not.toContain('[DONE]');
    gates[1]?.resolve();
    const text = await client.end();
    expect(text).toContain('[DONE]');
    expect(text.toLowerCase()).not.toContain('content-encoding');
  });
});

it('a thousand idle connections and two hundred streams leave the gateway answering', async () => {
  fixture.answer = (_request, response) => response.sse(chunk('hello'));
  const idle = await Promise.all(Array.from({ length: 1_000 }, () => fixture.connect()));
  const head = fixture.post(`Content-Type: application/json\r\nContent-Length: ${streamedChat.length}\r\n`);
  const streams = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const client = await fixture.connect();
      // At once, before the header timeout of this connection.
      client.send(head + streamedChat);
      return client;
    }),
  );
  try {
    await Promise.all(streams.map((client) => client.waitFor('hello')));
    expect((await fetch(`${fixture.url}/livez`)).status).toBe(200);
  } finally {
    for (const client of [...idle, ...streams]) client[Symbol.dispose]();
  }
  const rows = await fixture.records(200);
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['aborted']));
});

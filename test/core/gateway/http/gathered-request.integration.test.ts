import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GatheredRequest } from '#core/gateway/http/gathered-request.ts';
import { createListener } from '#core/gateway/http/listener.ts';

const head = 'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
const letters = 'abcdefghijklmnopqrstuvwxyz';

/** A body of this many letters, one a chunk. */
function singleBytes(count: number): string {
  return Array.from({ length: count }, (_, index) => `1\r\n${letters[index % 26]}\r\n`).join('');
}

/** Sends the packets of one request to a server of ours; resolves with the response. */
async function exchange(
  packets: Iterable<string> | AsyncIterable<string>,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  await using server = createListener();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true);
  const response = text(socket);
  for await (const packet of packets) socket.write(packet);
  return await response;
}

/** Counts the chunks that are parsed in one turn of the event loop. @returns the most of them so far */
function countByTurn(): () => number {
  const original = GatheredRequest.prototype.push;
  let inTurn = 0;
  let most = 0;
  const spy = vi.spyOn(GatheredRequest.prototype, 'push').mockImplementation(function (this: GatheredRequest, chunk) {
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    most = Math.max(most, ++inTurn);
    return original.call(this, chunk);
  });
  onTestFinished(() => spy.mockRestore());
  return () => most;
}

/** The chunks that a reader gets. */
async function readChunks(request: IncomingMessage): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(request, 'end');
  return chunks;
}

describe('a body in chunks of one byte', () => {
  const count = 100_000;
  const packets = [head, singleBytes(count), '0\r\n\r\n'];

  it('reaches its reader in few chunks, unchanged', async () => {
    const received = await exchange(packets, async (request, response) => {
      const chunks = await readChunks(request);
      const body = Buffer.concat(chunks).toString();
      const isSame = body === letters.repeat(Math.ceil(count / 26)).slice(0, count);
      response.end(`${isSame}, ${chunks.length < 100}`);
    });
    expect(received).toContain('true, true');
  });

  it('is buffered in a few chunks while it has no reader', async () => {
    const received = await exchange([head, singleBytes(60_000), '0\r\n\r\n'], async (request, response) => {
      while (!request.complete) await turn();
      const chunks = await readChunks(request);
      response.end(`${Buffer.concat(chunks).length} bytes, ${chunks.length < 100}`);
    });
    expect(received).toContain('60000 bytes, true');
  });

  it('is read to its end by an iterator', async () => {
    const received = await exchange(packets, async (request, response) => {
      let size = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) size += chunk.length;
      response.end(`${size} bytes`);
    });
    expect(received).toContain(`${count} bytes`);
  });

  it('is read to its end by a reader that pauses', async () => {
    const received = await exchange(packets, async (request, response) => {
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        request.pause();
        setImmediate(() => request.resume());
      });
      await once(request, 'end');
      response.end(`${size} bytes`);
    });
    expect(received).toContain(`${count} bytes`);
  });
});

describe('a turn of the event loop', () => {
  // As many as one packet of 64 KB holds.
  const packet = 11_000;
  const count = 60_000;
  const readers: Readonly<Record<string, (request: IncomingMessage) => Promise<unknown>>> = {
    'nobody reads': async (request) => {
      while (!request.complete) await turn();
      request.resume();
    },
    'an iterator reads': (request) => text(request),
    'a listener reads': readChunks,
  };

  it.each(Object.keys(readers))('parses one packet of single bytes at most when %s', async (name) => {
    const most = countByTurn();
    const packets = [`${head}${singleBytes(count)}0\r\n\r\n`];
    const received = await exchange(packets, async (request, response) => {
      await readers[name]?.(request);
      response.end('read');
    });
    expect(received).toContain('read');
    expect(most()).toBeLessThan(packet);
  });
});

describe('a body that drips in', () => {
  it('shows its reader that it still arrives', async () => {
    const arrived: PromiseWithResolvers<void>[] = Array.from({ length: 30 }, () => Promise.withResolvers<void>());
    async function* packets(): AsyncGenerator<string> {
      yield head;
      for (const [index] of arrived.entries()) {
        yield singleBytes(1);
        // Before the next byte is sent, the reader has seen one sent at most a moment ago.
        if (index < 16) await arrived[index]?.promise;
        else await new Promise((resolve) => setTimeout(resolve, 20));
      }
      yield '0\r\n\r\n';
    }
    const received = await exchange(packets(), async (request, response) => {
      let chunks = 0;
      request.on('data', () => arrived[chunks++]?.resolve());
      await once(request, 'end');
      response.end(`${chunks > 16}`);
    });
    expect(received).toContain('true');
  });
});

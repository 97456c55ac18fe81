import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { BodyWriter } from '#core/gateway/http/body-writer.ts';

let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Answers every request with these chunks. @param last the last one of a body that breaks off */
async function serve(chunks: readonly (string | Buffer)[], last?: string): Promise<number> {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const writer = new BodyWriter(response);
    for (const chunk of chunks) writer.write(chunk);
    if (last === undefined) writer.end();
    else writer.endTruncated(last);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** All bytes that a connection gets until the server closes it. */
function raw(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(head);
  return text(socket);
}

async function get(port: number, agent: Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ port, agent }, (response) => text(response).then(resolve, reject))
    .on('error', reject)
    .end();
  return promise;
}

describe('the body writer', () => {
  it.each([1, 15, 16, 255, 4_096, 16_384, 16_385, 300_000])('sends a chunk of %i bytes whole', async (size) => {
    const chunk = 'é'.repeat(size / 2) + 'x'.repeat(size % 2);
    const port = await serve([Buffer.from(chunk)]);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe(chunk);
  });

  it('writes each chunk behind its size in bytes, and an empty one last', async () => {
    const port = await serve(['a', Buffer.from('bé'), '', 'c'.repeat(17), 'end']);
    const answer = await raw(port, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    const [head, body] = answer.split(/\r\n\r\n(.*)/s);
    expect(head).toMatch(/\r\nTransfer-Encoding: chunked$/im);
    expect(body).toBe(`1\r\na\r\n3\r\nbé\r\n11\r\n${'c'.repeat(17)}\r\n3\r\nend\r\n0\r\n\r\n`);
  });

  it('leaves the connection to the next request', async () => {
    const port = await serve(['one', 'two']);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const bodies = [await get(port, agent), await get(port, agent)];
    const { length } = Object.values(agent.freeSockets).flat();
    agent.destroy();
    expect([bodies, length]).toEqual([['onetwo', 'onetwo'], 1]);
  });

  it('sends a client of HTTP/1.0 the bytes alone', async () => {
    const port = await serve(['one', 'two', 'end']);
    expect(await raw(port, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/\r\n\r\nonetwoend$/);
  });

  it('sends nothing behind the head for a HEAD request', async () => {
    const port = await serve(['one']);
    expect(await raw(port, 'HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toMatch(/\r\n\r\n$/);
  });
});

describe('a body that breaks off', () => {
  const keptAlive = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
  const closing = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

  it.each([
    ['keeps connections', keptAlive],
    ['closes them', closing],
  ])('reaches a client that %s without its last chunk, before the connection closes', async (_who, head) => {
    const port = await serve(['one', 'x'.repeat(20_000)], 'failed');
    expect(await raw(port, head)).toMatch(/\r\n\r\n3\r\none\r\n4e20\r\nx{20000}\r\n6\r\nfailed\r\n$/);
  });

  it('without a last text has no chunk for it, which would be the last one', async () => {
    const port = await serve(['one'], '');
    expect(await raw(port, keptAlive)).toMatch(/\r\n\r\n3\r\none\r\n$/);
  });

  it('resets a client of HTTP/1.0, for which the end of the connection is the end of the body', async () => {
    const port = await serve(['one'], 'failed');
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += String(bytes);
    });
    await expect(once(socket, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(received).toMatch(/\r\n\r\nonefailed$/);
  });

  it('does not end the connection of a HEAD request, whose response has no body', async () => {
    const port = await serve(['one'], 'failed');
    const socket = connect(port, '127.0.0.1');
    socket.write('HEAD / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    socket.write('HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('ends when its client closes first', async () => {
    const port = await serve(['one'], 'failed');
    const closed = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    const socket = connect(port, '127.0.0.1');
    socket.write(keptAlive);
    await once(socket, 'data');
    socket.end();
    await closed;
  });
});

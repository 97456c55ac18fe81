import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createUpstream } from './faulty-upstream.ts';

const post = { method: 'POST', body: '{"a":1}' };

describe('the faulty upstream', () => {
  it('records requests and plays its script in order', async () => {
    await using upstream = await createUpstream([(_, response) => response.json(200, { ok: true })]);
    const first = await fetch(`${upstream.url}/v1/x?y=1`, { ...post, headers: { 'x-a': 'b' } });
    expect(await first.json()).toEqual({ ok: true });
    const second = await fetch(`${upstream.url}/v1/x`, post);
    expect(second.status).toBe(500);
    const request = await upstream.waitForRequest(1);
    expect(request).toMatchObject({ method: 'POST', path: '/v1/x?y=1', headers: { 'x-a': 'b' } });
    expect(request.json()).toEqual({ a: 1 });
    expect(await upstream.waitForClose(1)).toBe('answered');
  });

  it('streams under the control of the test', async () => {
    const gate = Promise.withResolvers<void>();
    await using upstream = await createUpstream(async (_, response) => {
      response.sse({ n: 1 });
      await gate.promise;
      await response.event('[DONE]');
      response.end();
    });
    const answer = await fetch(upstream.url, post);
    const reader = answer.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: {"n":1}\n\n');
    gate.resolve();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: [DONE]\n\n');
  });

  it('reports that the client has left', async () => {
    await using upstream = await createUpstream((_, response) => response.head(200));
    const controller = new AbortController();
    await fetch(upstream.url, { ...post, signal: controller.signal });
    controller.abort();
    expect(await upstream.waitForClose(1)).toBe('client left');
  });

  it('cuts a chunked body, and one shorter than its content-length', async () => {
    await using upstream = await createUpstream([
      async (_, response) => {
        response.head(200);
        await response.write('half');
        response.cut();
      },
      (_, response) => {
        response.head(200, { 'content-length': '500' });
        void response.write('half');
        response.cut();
      },
    ]);
    await expect(fetch(upstream.url, post).then((answer) => answer.text())).rejects.toThrow('terminated');
    await expect(fetch(upstream.url, post).then((answer) => answer.text())).rejects.toThrow('terminated');
    expect(await upstream.waitForClose(1)).toBe('broken off');
    expect(await upstream.waitForClose(2)).toBe('broken off');
  });

  it('resets the connection', async () => {
    await using upstream = await createUpstream((_, response) => response.reset());
    const socket = connect(Number(new URL(upstream.url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const code = await new Promise((resolve) =>
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)),
    );
    expect(code).toBe('ECONNRESET');
  });

  it('writes bytes that are not HTTP', async () => {
    await using upstream = await createUpstream((_, response) => {
      response.raw('HTTP/1.1 two hundred\r\n\r\n');
      response.cut();
    });
    await expect(fetch(upstream.url, post)).rejects.toThrow('fetch failed');
  });

  it('throws a handler’s error when it is disposed', async () => {
    const upstream = await createUpstream(() => {
      throw new Error('mistake of the test');
    });
    await expect(fetch(upstream.url, post)).rejects.toThrow('fetch failed');
    await expect(upstream[Symbol.asyncDispose]()).rejects.toThrow('mistake of the test');
  });
});

import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { chat, chatBody, chunk, maxBodyBytes, ClientFaultFixture } from './fixture.ts';

const fixture = ClientFaultFixture.use();

/** Headers of a client that waits for 100 Continue before it sends so many bytes. */
function expecting(length: number): string {
  return `Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n`;
}

describe('a request body', () => {
  it('a body that is declared too large gets 413 before any of it arrives', async () => {
    using client = await fixture.connect();
    client.send(fixture.post(`Content-Type: application/json\r\nContent-Length: ${maxBodyBytes + 1}\r\n`));
    await client.waitFor('request_too_large');
    expect(client.status).toBe(413);
  });

  it('a chunked body gets 413 as soon as it is too large', async () => {
    const before = fixture.upstream.requests.length;
    using client = await fixture.connect();
    client.send(fixture.post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'));
    const part = `2710\r\n${' '.repeat(10_000)}\r\n`;
    for (let sent = 0; sent <= maxBodyBytes; sent += 10_000) client.send(part);
    await client.waitFor('request_too_large');
    expect(client.status).toBe(413);
    expect(fixture.upstream.requests).toHaveLength(before);
    const [row] = await fixture.records();
    expect(row).toMatchObject({ outcome: 'refused', status: 413 });
  });

  it('a body that is too large gets 413 in the format of Messages', async () => {
    const response = await fixture.ask(' '.repeat(maxBodyBytes + 1), { path: '/v1/messages' });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'request_too_large' } });
  });

  it('a gzip body is accepted', async () => {
    expect((await fixture.ask(gzipSync(chat), { headers: { 'content-encoding': 'gzip' } })).status).toBe(200);
    expect(fixture.upstream.requests.at(-1)?.json()).toMatchObject({ messages: chatBody.messages });
    expect(fixture.upstream.requests.at(-1)?.headers['content-encoding']).toBeUndefined();
  });

  it('a gzip body that decompresses to more than the limit gets 413', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    expect(bomb.length).toBeLessThan(maxBodyBytes);
    expect((await fixture.ask(bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(413);
  });

  it('a body that arrives after its refusal leaves the connection open for further requests', async () => {
    using client = await fixture.connect();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      client.send(`${fixture.post('Content-Length: 10\r\n', '/v1/first')}12345`);
      await client.waitFor('/v1/first');
      client.send(`67890${fixture.post('Content-Length: 0\r\n', '/v1/second')}`);
      await client.waitFor('/v1/second');
      vi.advanceTimersByTime(60_000);
    } finally {
      vi.useRealTimers();
    }
    client.send(fixture.post('Content-Length: 0\r\n', '/v1/third'));
    await client.waitFor('/v1/third');
  });

  it('a body that is declared but not encoded as gzip gets 400', async () => {
    expect((await fixture.ask(chat, { headers: { 'content-encoding': 'gzip' } })).status).toBe(400);
    expect(
      (await fixture.ask(gzipSync(chat).subarray(0, 30), { headers: { 'content-encoding': 'gzip' } })).status,
    ).toBe(400);
  });

  it('a body in chunks of one byte is accepted', async () => {
    using client = await fixture.connect();
    client.send(fixture.post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n'));
    for (const char of chat) client.send(`1\r\n${char}\r\n`);
    client.send('0\r\n\r\n');
    await client.end();
    expect(client.status).toBe(200);
    expect(fixture.upstream.requests.at(-1)?.json()).toMatchObject({ messages: chatBody.messages });
  });

  it('a body whose connection is reset halfway calls no upstream', async () => {
    const before = fixture.upstream.requests.length;
    using client = await fixture.connect();
    client.send(fixture.post(expecting(chat.length)));
    // A reset drops what has not been read, so the request has to have arrived.
    await client.waitFor('100 Continue');
    client.send(chat.slice(0, 20));
    client.socket.resetAndDestroy();
    const [row] = await fixture.records();
    expect(row).toMatchObject({ outcome: 'aborted', status: null, error_code: null });
    expect(fixture.upstream.requests).toHaveLength(before);
  });

  it('a body whose chunks break off halfway calls no upstream', async () => {
    const before = fixture.upstream.requests.length;
    const { status } = await fixture.exchangeRaw(
      `${fixture.post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n')}5\r\n{"mod\r\nno length\r\n`,
    );
    expect(status).toBe(400);
    const [row] = await fixture.records();
    expect(row).toMatchObject({ outcome: 'aborted' });
    expect(fixture.upstream.requests).toHaveLength(before);
  });

  const shapes = [
    { path: '/v1/chat/completions', shape: { error: { type: 'invalid_request_error' } } },
    { path: '/v1/messages', shape: { type: 'error', error: { type: 'invalid_request_error' } } },
  ];
  const wrongBodies: [string, string | Buffer, Record<string, string>, number][] = [
    ['that is not JSON', '{"model":', {}, 400],
    ['that is empty', '', {}, 400],
    ['with a byte order mark', `\ufeff${chat}`, {}, 400],
    ['that is an array', '[]', {}, 400],
    ['that is null', 'null', {}, 400],
    ['that is a number', '12', {}, 400],
    ['of a form', 'model=test', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['of several parts', '--a--', { 'content-type': 'multipart/form-data; boundary=a' }, 415],
    ['in an unknown encoding', chat, { 'content-encoding': 'compress' }, 415],
    ['that nests 5,000 levels', `{"model":"test","messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, {}, 400],
  ];
  describe.each(shapes)('a wrong body to $path', ({ path, shape }) => {
    it.each(wrongBodies)('a request with a body %s is refused', async (_name, body, headers, status) => {
      const before = fixture.upstream.requests.length;
      const response = await fixture.ask(body, { path, headers });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject(shape);
      expect(fixture.upstream.requests).toHaveLength(before);
    });
  });

  it.each([
    [{ stream: 'true' }, 'stream'],
    [{ n: 1e9 }, 'n'],
    [{ max_tokens: -5 }, 'max_tokens'],
    [{ messages: 'hi' }, 'messages'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ model: 5 }, 'model'],
    [{ messages: null }, 'messages'],
  ])('a body with %j gets a 400 that names the parameter', async (wrong, param) => {
    const response = await fixture.ask(JSON.stringify({ ...chatBody, ...wrong }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it('a body with names of prototype members passes through unchanged', async () => {
    const odd = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":2';
    const text = `{"model":"test",${odd},"messages":[{"role":"user","content":"hi",${odd}}]}`;
    expect((await fixture.ask(text)).status).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(fixture.upstream.requests.at(-1)?.body.toString()).toBe(text.replace('"test"', '"model-there"'));
  });

  it('of a duplicate name in a body, gateway and upstream use the last', async () => {
    fixture.answer = (_request, response) => {
      response.sse(chunk('hello'), '[DONE]');
      response.end();
    };
    const text = `{"model":"unknown","stream":false,"messages":[{"role":"user","content":"hi"}],"model":"test","stream":true}`;
    const response = await fixture.ask(text);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await response.text();
    const sent = fixture.upstream.requests.at(-1);
    expect(sent?.json()).toMatchObject({ model: 'model-there', stream: true });
    expect(sent?.body.toString()).not.toContain('unknown');
  });
});

describe('Expect: 100-continue', () => {
  it('Expect: 100-continue with a wrong key gets 401 and no 100 Continue', async () => {
    using client = await fixture.connect();
    client.send(fixture.post(expecting(chat.length)).replace(fixture.key, 'dp-wrong'));
    await client.waitFor('invalid_api_key');
    expect(client.status).toBe(401);
    expect(client.received).not.toContain('100 Continue');
  });

  it('Expect: 100-continue with a body that is too large gets 413 and no 100 Continue', async () => {
    using client = await fixture.connect();
    client.send(fixture.post(expecting(maxBodyBytes + 1)));
    await client.waitFor('request_too_large');
    expect(client.status).toBe(413);
  });

  it('Expect: 100-continue with a valid key gets one 100 Continue', async () => {
    const before = fixture.upstream.requests.length;
    using client = await fixture.connect();
    client.send(fixture.post(`${expecting(chat.length)}Connection: close\r\n`));
    await client.waitFor('HTTP/1.1 100 Continue');
    client.send(chat);
    expect(await client.end()).toContain('HTTP/1.1 200 OK');
    expect(client.received.match(/HTTP\/1\.1 /g)).toHaveLength(2);
    expect(fixture.upstream.requests).toHaveLength(before + 1);
    await fixture.records(1);
  });

  it('a request with another expectation than 100-continue is refused', async () => {
    const { status } = await fixture.exchangeRaw(
      fixture.post('Content-Length: 0\r\nConnection: close\r\nExpect: a-miracle\r\n'),
    );
    expect(status).toBe(417);
  });
});

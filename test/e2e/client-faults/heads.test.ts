import { describe, expect, it } from 'vitest';
import { chat, ClientFaultFixture } from './fixture.ts';

const fixture = ClientFaultFixture.use();

const upgrade = (path: string, credential: string) =>
  `GET ${path} HTTP/1.1\r\nHost: gateway\r\n${credential}User-Agent: ${fixture.agent}\r\n` +
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n';

describe('request headers', () => {
  it('request headers that trickle in end the connection at the header timeout, while others are served', async () => {
    using client = await fixture.connect();
    const drip = setInterval(() => client.send('a'), 100);
    try {
      client.send('POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nx-slow: ');
      expect((await fixture.ask(chat)).status).toBe(200);
      await client.end();
      expect(client.status).toBe(408);
    } finally {
      clearInterval(drip);
    }
  });

  it('request headers of 20 KB are refused', async () => {
    const { status } = await fixture.exchangeRaw(fixture.post(`x-large: ${'a'.repeat(20_000)}\r\n`));
    expect(status).toBe(431);
  });

  it('two thousand request headers are refused', async () => {
    const short = 'a:\r\n'.repeat(2_000);
    const { status } = await fixture.exchangeRaw(
      `${fixture.post(`Content-Length: 0\r\nConnection: close\r\n${short}`)}`,
    );
    expect(status).toBe(431);
  });

  it.each([
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n', 'abcde'],
    ['a length that is not a number', 'Content-Length: 4x\r\n', 'abcd'],
    ['chunks that are not the last encoding', 'Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 4\r\n', 'abcd'],
    ['a line feed alone', 'x-a: b\nContent-Length: 0\r\n', ''],
    ['a folded line', 'x-a: b\r\n\tContent-Length: 4\r\nContent-Length : 0\r\n', ''],
  ])('request headers with %s get a 400 that closes the connection', async (_name, headers, body) => {
    const before = fixture.upstream.requests.length;
    const { status } = await fixture.exchangeRaw(fixture.post(headers) + body);
    expect(status).toBe(400);
    expect(fixture.upstream.requests).toHaveLength(before);
  });

  it('request headers with an unknown transfer encoding get a 501 that closes the connection', async () => {
    const before = fixture.upstream.requests.length;
    const { status } = await fixture.exchangeRaw(fixture.post('Transfer-Encoding: xchunked\r\n') + '0\r\n\r\n');
    expect(status).toBe(501);
    expect(fixture.upstream.requests).toHaveLength(before);
  });

  it('a malformed cookie is accepted', async () => {
    expect((await fixture.ask(chat, { headers: { cookie: '=;\u00e9=""; a b="' } })).status).toBe(200);
  });

  it('headers that forge a client address are ignored', async () => {
    const forged = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' };
    expect((await fixture.ask(chat, { headers: forged })).status).toBe(200);
    const [row] = await fixture.records();
    expect(row?.remote_address).toBe('127.0.0.1');
  });
});

describe('a request that is not valid HTTP', () => {
  it.each([
    ['BREW /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n', 400, 'malformed', null],
    [
      `GET /v1/models HTTP/1.1\r\nx-large: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
      'request_too_large',
    ],
    ['GET /v1/models HTTP/1.1\r\nx-slow: ', 408, 'timeout', 'request_timeout'],
  ])('bytes that are not HTTP get an error as JSON and are counted: %s', async (bytes, status, reason, code) => {
    const series = `parser_refusals_total{reason="${reason}"}`;
    const before = await fixture.metric(series);
    const { text } = await fixture.exchangeRaw(bytes);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/json/m);
    expect(head).toMatch(/^cache-control: no-store/m);
    expect(JSON.parse(body)).toMatchObject({ error: { message: expect.any(String), code } });
    expect(await fixture.metric(series)).toBe(before + 1);
  });
});

describe('a request with an unexpected method, protocol or path:', () => {
  it.each(['TRACE', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])('the method %s gets 405', async (method) => {
    const head = `${method} /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n`;
    const { status } = await fixture.exchangeRaw(`${head}Authorization: Bearer ${fixture.key}\r\n\r\n`);
    expect(status).toBe(405);
  });

  it('an unknown method gets 400', async () => {
    expect((await fixture.exchangeRaw('BREW /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n')).status).toBe(400);
  });

  it('CONNECT closes the connection', async () => {
    const { text } = await fixture.exchangeRaw('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    expect(text).not.toContain(' 200 ');
  });

  it('the first bytes of TLS close the connection', async () => {
    const hello = Buffer.from('16030100a5010000a10303', 'hex');
    expect((await fixture.exchangeRaw(Buffer.concat([hello, Buffer.alloc(160)]))).status).toBe(400);
  });

  describe('an upgrade to a WebSocket', () => {
    it.each([
      ['with a key', '/v1/messages', () => `Authorization: Bearer ${fixture.key}\r\n`],
      ['without a key', '/v1/messages', () => ''],
      ['without a key, on a path without /v1', '/messages', () => ''],
      ['without a key, on a path with /v1 twice', '/v1/v1/messages/', () => ''],
      ['with a key of another service', '/v1/messages', () => 'Authorization: Bearer sk-other\r\n'],
    ])('where there are none gets 426 %s', async (_name, path, credential) => {
      using client = await fixture.connect();
      client.send(upgrade(path, credential()));
      await client.waitFor('\r\n\r\n');
      expect(client.status).toBe(426);
    });

    it('where there are none is recorded even without an account', async () => {
      using client = await fixture.connect();
      client.send(upgrade('/v1/messages', ''));
      await client.waitFor('\r\n\r\n');
      expect(await fixture.records()).toMatchObject([
        { status: 426, outcome: 'refused', error_code: 'upgrade_required', path: '/v1/messages' },
      ]);
    });

    it('without a key is refused as a request is, and recorded', async () => {
      using client = await fixture.connect();
      client.send(upgrade('/v1/responses', ''));
      await client.waitFor('\r\n\r\n');
      expect(client.status).toBe(401);
      expect(await fixture.records()).toMatchObject([
        { status: 401, outcome: 'refused', error_code: 'invalid_api_key', path: '/v1/responses' },
      ]);
    });

    it.each(['/v1/responses', '/responses', '/v1/messages'])(
      'whose `Upgrade` a proxy has dropped gets 426 on %s',
      async (path) => {
        using client = await fixture.connect();
        client.send(upgrade(path, '').replace(/^(Connection|Upgrade):.*\r\n/gim, ''));
        await client.waitFor('\r\n\r\n');
        expect(client.status).toBe(426);
      },
    );
  });

  it('HEAD has the headers of GET and no body', async () => {
    const { status, text } = await fixture.exchangeRaw(
      `HEAD /v1/models HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${fixture.key}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBe(200);
    expect(text).toMatch(/content-length: [1-9]/i);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });

  it('HEAD of a path that accepts only POST gets 405 without a body', async () => {
    const { status, text } = await fixture.exchangeRaw(
      `HEAD /v1/messages HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${fixture.key}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBe(405);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });

  it.each(['/v1/chat/completions/', '//v1/chat/completions', '/v1//chat/completions', '//chat/completions'])(
    'a path with an extra slash is served: %s',
    async (path) => {
      expect((await fixture.ask(chat, { path })).status).toBe(200);
    },
  );

  it.each([
    '/v1/chat/completions%00',
    '/v1/chat%2fcompletions',
    '/v1/models/%00',
    '/v1/models/%zz',
    '/v1/%E0%A4%A',
    '/v1/../v1/nothing',
    '/v1/chat/completions;a=b',
    '/%2e%2e/v1/nothing',
    'http://elsewhere/v1/nothing',
    '*',
  ])('the path %s is refused and reaches no other route', async (path) => {
    const before = fixture.upstream.requests.length;
    const head = `Host: gateway\r\nAuthorization: Bearer ${fixture.key}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    const first = await fixture.exchangeRaw(`POST ${path} HTTP/1.1\r\n${head}`);
    expect([400, 404, 405]).toContain(first.status);
    const second = await fixture.exchangeRaw(`POST ${path} HTTP/1.1\r\n${head}`);
    expect(second.status).toBe(first.status);
    expect(fixture.upstream.requests).toHaveLength(before);
  });

  it('a key in the query string is refused and not recorded', async () => {
    const response = await fetch(`${fixture.url}/v1/chat/completions?key=${fixture.key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': fixture.agent },
      body: chat,
    });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(fixture.key);
    expect(JSON.stringify(await fixture.records())).not.toContain(fixture.key);
  });
});

import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../../../../plugins/upstream/connections/request-head.ts';

const origin = 'https://vendor.example';

/** Head and body as they are sent. */
function sent(
  headers: Record<string, string> = {},
  { path = '/v1', body = '{}' as string | Buffer | readonly Buffer[], isReused = true } = {},
): readonly string[] {
  const pieces = encodeRequest({ origin, path, method: 'POST', headers, body }, 'vendor.example', isReused);
  return pieces.map((piece) => piece.toString('latin1'));
}

describe('a request', () => {
  it('a request is one piece with its headers, its host and its length', () => {
    expect(sent({ 'X-One': 'a b', authorization: 'Bearer \xe9' })).toEqual([
      'POST /v1 HTTP/1.1\r\nhost: vendor.example\r\nconnection: keep-alive\r\nX-One: a b\r\nauthorization: Bearer \xe9\r\ncontent-length: 2\r\n\r\n{}',
    ]);
  });

  it('a request has the configured host in place of that of its URL', () => {
    const [text] = sent({ Host: 'other.example:8443' });
    expect(text?.match(/^host: .*$/gim)).toEqual(['host: other.example:8443']);
  });

  it('a request says that its connection serves no other', () => {
    expect(sent({}, { isReused: false })[0]).toContain('\r\nconnection: close\r\n');
  });

  it.each([
    ['a text', 'é{}', 4],
    ['bytes', Buffer.from('{}'), 2],
    ['pieces, also empty ones', [Buffer.from('{'), Buffer.alloc(0), Buffer.from('}')], 2],
    ['nothing', [], 0],
  ])('a request has the length of its body in bytes: %s', (_name, body, length) => {
    const [text] = sent({}, { body });
    expect(text).toContain(`content-length: ${length}\r\n\r\n`);
    expect(text?.split('\r\n\r\n')[1]).toHaveLength(length);
  });

  it('a request with a long body is sent in its pieces, which are not copied', () => {
    const body = [Buffer.alloc(20_000, 'a'), Buffer.alloc(20_000, 'b')];
    const pieces = encodeRequest({ origin, path: '/', method: 'POST', body }, 'vendor.example', true);
    expect(pieces.slice(1)).toEqual(body);
    expect(pieces[1]).toBe(body[0]);
    expect(pieces[0]?.toString()).toMatch(/content-length: 40000\r\n\r\n$/);
  });
});

describe('a request that would become two', () => {
  it.each(['\r\nx: y', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb', 'a\u010ab', 'a\u{1f600}'])(
    'a request that would become two is refused, by a value: %j',
    (value) => {
      expect(() => sent({ 'x-one': value })).toThrow(/"x-one" has characters/);
    },
  );

  it.each(['', 'a b', 'a:b', 'a\r\nb', 'a\n', 'é', '\0'])(
    'a request that would become two is refused, by a name: %j',
    (name) => {
      expect(() => sent({ [name]: 'a' })).toThrow(/has characters/);
    },
  );

  it.each(['', 'v1', '/a b', '/a\r\nb', '/a HTTP/1.1\r\nx: y', '/\0', '/\u010a', 'http://other.example/'])(
    'a request that would become two is refused, by a path: %j',
    (path) => {
      expect(() => sent({}, { path })).toThrow(/the path/);
    },
  );

  it.each(['Content-Length', 'transfer-encoding', 'Connection', 'keep-alive', 'upgrade', 'EXPECT', 'te'])(
    'a request that would become two is refused, by a header about its framing: %s',
    (name) => {
      expect(() => sent({ [name]: '2' })).toThrow(/cannot be set/);
    },
  );
});

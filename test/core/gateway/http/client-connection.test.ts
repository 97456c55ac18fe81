import { describe, expect, it } from 'vitest';
import { createConnectionReader } from '#core/gateway/http/client-connection.ts';

const via = (proxies: string[], peer: string, forwarded?: string) =>
  createConnectionReader(proxies)(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }).address;

describe('the address of a client', () => {
  it('is that of the peer when no proxy is trusted, whatever the header says', () => {
    expect(via([], '203.0.113.9', '1.1.1.1')).toBe('203.0.113.9');
  });

  it('is that of the peer when the peer is not a trusted proxy', () => {
    expect(via(['10.0.0.0/8'], '203.0.113.9', '1.1.1.1')).toBe('203.0.113.9');
  });

  it('is what a trusted proxy reports', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', '1.1.1.1')).toBe('1.1.1.1');
  });

  it('is the nearest one that is not a trusted proxy, not what the client prepended', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2')).toBe('1.1.1.1');
  });

  it('is the farthest one when every hop is a trusted proxy', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3');
  });

  it('is that of the peer when the proxy sends no header', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1')).toBe('10.0.0.1');
  });

  it.each(['unknown', '', ' ', '1.1.1.1:port', '[::1', '999.1.1.1', '<script>', 'a'.repeat(10_000)])(
    'is the peer’s when the proxy sends %j, which is not an address',
    (forwarded) => {
      expect(via(['10.0.0.0/8'], '10.0.0.1', forwarded)).toBe('10.0.0.1');
    },
  );

  it('is not searched for behind a malformed entry', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, junk')).toBe('10.0.0.1');
    expect(via(['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, junk, 10.0.0.2')).toBe('10.0.0.2');
  });

  it.each(['1.1.1.1:4711', '::ffff:1.1.1.1', '[::ffff:1.1.1.1]:80'])('is written as %s by some proxies', (entry) => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', entry)).toBe('1.1.1.1');
  });

  it('is found among the nearest of a thousand hops', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', `${'6.6.6.6,'.repeat(1_000)} 1.1.1.1`)).toBe('1.1.1.1');
    expect(via(['10.0.0.0/8'], '10.0.0.1', `1.1.1.1, ${'10.0.0.2,'.repeat(1_000)}10.0.0.2`)).toBe('10.0.0.2');
  });

  it.each(['::ffff:203.0.113.9', '::FFFF:203.0.113.9', '::ffff:cb00:7109', '0:0:0:0:0:ffff:cb00:7109'])(
    'is plain IPv4 on a listener for both families: %s',
    (peer) => {
      expect(via([], peer)).toBe('203.0.113.9');
      expect(via(['203.0.113.0/24'], peer, '1.1.1.1')).toBe('1.1.1.1');
      expect(via(['10.0.0.1'], '10.0.0.1', peer)).toBe('203.0.113.9');
    },
  );

  it.each(['::ffff:10.0.0.0/104', '::ffff:10.0.0.1'])(
    'is what an IPv4 proxy reports whose range is written as IPv6: %s',
    (range) => {
      expect(via([range], '::ffff:10.0.0.1', '1.1.1.1')).toBe('1.1.1.1');
      expect(via([range], '::ffff:11.0.0.1', '1.1.1.1')).toBe('11.0.0.1');
    },
  );

  it('can be an IPv6 address', () => {
    expect(via(['10.0.0.1'], '10.0.0.1', '2001:db8::7')).toBe('2001:db8::7');
  });

  it('is reported by an IPv6 proxy too', () => {
    expect(via(['fd00::/8'], 'fd00::1', '1.1.1.1')).toBe('1.1.1.1');
  });

  it('is reported by an IPv4-mapped proxy', () => {
    expect(via(['10.0.0.0/8'], '::ffff:10.0.0.1', '1.1.1.1')).toBe('1.1.1.1');
  });

  it('is reported by a single trusted address, not by its neighbours', () => {
    expect([via(['10.0.0.1'], '10.0.0.1', '1.1.1.1'), via(['10.0.0.1'], '10.0.0.2', '1.1.1.1')]).toEqual([
      '1.1.1.1',
      '10.0.0.2',
    ]);
  });
});

/** What a gateway that trusts 10.0.0.0/8 reads. */
const read = (headers: Record<string, string>, peer = '10.0.0.1') =>
  createConnectionReader(['10.0.0.0/8'])(peer, { host: 'gateway:8080', ...headers });

describe('the header Forwarded', () => {
  it.each([
    ['for=1.1.1.1', '1.1.1.1'],
    ['For="[2001:db8::7]:4711"', '2001:db8::7'],
    ['for=6.6.6.6, for=1.1.1.1;proto=https, for="10.0.0.2";by=10.0.0.1', '1.1.1.1'],
    ['for="6.6.6.6, for=7.7.7.7", for=1.1.1.1', '1.1.1.1'],
    ['for=unknown', '10.0.0.1'],
    ['for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for="1.1.1.1', '10.0.0.1'],
    [',;=,'.repeat(2_000), '10.0.0.1'],
  ])('%s names the client %s', (forwarded, address) => {
    expect(read({ forwarded }).address).toBe(address);
  });

  it('has scheme and host as well', () => {
    expect(read({ forwarded: 'for=1.1.1.1;proto=HTTPS;host="ai.example"' })).toEqual({
      address: '1.1.1.1',
      isSecure: true,
      host: 'ai.example',
    });
  });

  it('is ignored if the proxy has written X-Forwarded-For', () => {
    expect(read({ forwarded: 'for=6.6.6.6;proto=https', 'x-forwarded-for': '1.1.1.1' })).toMatchObject({
      address: '1.1.1.1',
      isSecure: false,
    });
  });

  it('of a stranger does not count', () => {
    expect(read({ forwarded: 'for=1.1.1.1;proto=https;host=ai.example' }, '203.0.113.9')).toEqual({
      address: '203.0.113.9',
      isSecure: false,
      host: 'gateway:8080',
    });
  });
});

describe('the scheme and the host of a client', () => {
  const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'ai.example' };

  it('are what a trusted proxy says', () => {
    expect(read({ 'x-forwarded-for': '1.1.1.1', ...https })).toMatchObject({ isSecure: true, host: 'ai.example' });
    expect(read(https)).toMatchObject({ isSecure: true, host: 'ai.example' });
  });

  it('are not what anybody else says', () => {
    expect(read(https, '203.0.113.9')).toMatchObject({ isSecure: false, host: 'gateway:8080' });
  });

  it('are those of the proxy that the client reached, when each adds its own', () => {
    const addresses = { 'x-forwarded-for': '6.6.6.6, 1.1.1.1, 10.0.0.2' };
    expect(read({ ...addresses, 'x-forwarded-proto': 'http, https, http' }).isSecure).toBe(true);
    expect(read({ ...addresses, 'x-forwarded-proto': 'https, http, https' }).isSecure).toBe(false);
  });
});

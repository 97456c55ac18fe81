import { describe, expect, it } from 'vitest';
import { createClientAddress } from '#core/http/client-address.ts';

const via = (proxies: string[], peer: string, forwarded?: string) =>
  createClientAddress(proxies)(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });

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

  it('is that of the peer when every hop is a trusted proxy', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.1');
  });

  it('is that of the peer when the proxy sends no header', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1')).toBe('10.0.0.1');
  });

  it.each(['unknown', '', ' ', '1.1.1.1:80', '999.1.1.1', '<script>', 'a'.repeat(10_000)])(
    'is the peer’s when the proxy sends %j, which is not an address',
    (forwarded) => {
      expect(via(['10.0.0.0/8'], '10.0.0.1', forwarded)).toBe('10.0.0.1');
    },
  );

  it('is not searched for behind a malformed entry', () => {
    expect(via(['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, junk')).toBe('10.0.0.1');
  });

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

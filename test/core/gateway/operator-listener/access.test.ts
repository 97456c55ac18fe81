import { describe, expect, it } from 'vitest';
import { checkAccess } from '#core/gateway/operator-listener/access.ts';

const token = 'a-token-of-some-length';
const statusOf = (
  headers: Record<string, string>,
  access: Partial<Parameters<typeof checkAccess>[1]> = {},
  localAddress: string | undefined = '127.0.0.1',
) => checkAccess({ headers, localAddress }, { names: [], ...access })?.status ?? 200;

describe('the Host header of a request for the operator', () => {
  it.each(['localhost', 'LOCALHOST:9080', 'localhost.', '127.0.0.1:9080', '127.8.8.8', '[::1]:9080', '[::1]'])(
    'may be a loopback name or address: %s',
    (host) => {
      expect(statusOf({ host })).toBe(200);
    },
  );

  it.each([
    'attacker.example',
    'attacker.example:9080',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    '192.0.2.1',
    'localhost@attacker.example',
    'localhost:9080:1',
    '[attacker.example]',
    '',
  ])('may not be a name that resolves here by itself: "%s"', (host) => {
    expect(statusOf({ host })).toBe(421);
    expect(statusOf({ host, authorization: `Bearer ${token}` }, { token })).toBe(421);
  });

  it('must be there', () => {
    expect(statusOf({})).toBe(421);
  });

  it.each(['10.0.0.7:9080', 'Gateway:9080', 'gateway'])('may be the address or a configured name: %s', (host) => {
    expect(statusOf({ host }, { names: ['gateway'] }, '::ffff:10.0.0.7')).toBe(200);
  });

  it.each([
    ['daypass-0.daypass-instances.shop.svc.cluster.local:9080', 200],
    ['daypass-instances.shop.svc.cluster.local', 200],
    ['svc.cluster.local', 421],
    ['daypass.svc.cluster.local.attacker.example', 421],
    ['attackersvc.cluster.local', 421],
  ])('may be any name with a configured end: %s', (host, status) => {
    expect(statusOf({ host }, { names: ['*.svc.cluster.LOCAL'] })).toBe(status);
  });

  it('does not matter on a Unix socket, which no browser reaches', () => {
    expect(checkAccess({ headers: {}, localAddress: undefined }, { names: [] })).toBeUndefined();
  });
});

describe('a browser', () => {
  const host = 'localhost:9080';

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://attacker.example' },
    { origin: 'http://localhost:3000' },
    { origin: 'null' },
  ])('may not send what another page has asked for: %o', (headers) => {
    expect(statusOf({ host, ...headers })).toBe(403);
  });

  it.each([{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }, { origin: 'http://localhost:9080' }])(
    'may open the address itself: %o',
    (headers) => {
      expect(statusOf({ host, ...headers })).toBe(200);
    },
  );
});

describe('a token, where one is set,', () => {
  const host = 'localhost';

  it.each([`Bearer ${token}`, `bearer  ${token} `])('lets a request through: %s', (authorization) => {
    expect(statusOf({ host, authorization }, { token })).toBe(200);
  });

  it.each([undefined, token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, 'Bearer'])(
    'is required: %s',
    (authorization) => {
      expect(statusOf({ host, ...(authorization && { authorization }) }, { token })).toBe(401);
    },
  );
});

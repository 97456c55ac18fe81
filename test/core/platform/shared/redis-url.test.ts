import { expect, it } from 'vitest';
import { parseRedisUrl } from '#core/platform/shared/redis-url.ts';

it('a plain URL stays as it is, with TLS where it says so', () => {
  expect(parseRedisUrl('redis://user:p%40ss@host:6380/2')).toEqual({ url: 'redis://user:p%40ss@host:6380/2' });
  expect(parseRedisUrl('rediss://host')).toEqual({ url: 'rediss://host', tls: {} });
});

it('a URL of sentinels has their addresses, and user and password of the Redis that they know', () => {
  expect(parseRedisUrl('redis-sentinel://me:p%40:ss@one:26380,two,[::1]:1/primary')).toEqual({
    sentinels: [
      { host: 'one', port: 26_380 },
      { host: 'two', port: 26_379 },
      { host: '::1', port: 1 },
    ],
    name: 'primary',
    username: 'me',
    password: 'p@:ss',
  });
  expect(parseRedisUrl('redis-sentinel://:word@one/primary')).toMatchObject({ password: 'word' });
  const tls = {};
  expect(parseRedisUrl('rediss-sentinel://one/primary')).toMatchObject({
    tls,
    sentinelTLS: tls,
    enableTLSForSentinelMode: true,
  });
});

it('a URL of a cluster has some of its nodes', () => {
  expect(parseRedisUrl('redis-cluster://me:p%40@one:7000,two/?x')).toEqual({
    cluster: [
      { host: 'one', port: 7_000 },
      { host: 'two', port: 6_379 },
    ],
    username: 'me',
    password: 'p@',
  });
  expect(parseRedisUrl('rediss-cluster://one/0')).toEqual({ cluster: [{ host: 'one', port: 6_379 }], tls: {} });
});

it.each([
  'redis-cluster://one:x',
  'redis-cluster://one/1',
  'http://host',
  'host:6379',
  'redis-sentinel://one',
  'redis-sentinel://one:x/primary',
  'rediss://host?ca=/nonexistent',
])('another form is refused without the password, with the forms that work: %s', (url) => {
  expect(() => parseRedisUrl(url, 'REDIS_QUEUE_URL')).toThrow(/^REDIS_QUEUE_URL .*\. Use redis:\/\/user/);
});

import { expect, it } from 'vitest';
import { redisAddress } from '#core/platform/shared/redis-url.ts';

it('a plain URL stays as it is, with TLS where it says so', () => {
  expect(redisAddress('redis://user:p%40ss@host:6380/2')).toEqual({ url: 'redis://user:p%40ss@host:6380/2' });
  expect(redisAddress('rediss://host')).toEqual({ url: 'rediss://host', tls: {} });
});

it('a URL of sentinels has their addresses, and user and password of the Redis that they know', () => {
  expect(redisAddress('redis-sentinel://me:p%40:ss@one:26380,two,[::1]:1/primary')).toEqual({
    sentinels: [
      { host: 'one', port: 26_380 },
      { host: 'two', port: 26_379 },
      { host: '[::1]', port: 1 },
    ],
    name: 'primary',
    username: 'me',
    password: 'p@:ss',
  });
  expect(redisAddress('redis-sentinel://:word@one/primary')).toMatchObject({ password: 'word' });
  const tls = {};
  expect(redisAddress('rediss-sentinel://one/primary')).toMatchObject({ tls, sentinelTLS: tls });
});

it.each([
  'http://host',
  'host:6379',
  'redis-sentinel://one',
  'redis-sentinel://one:x/primary',
  'rediss://host?ca=/nonexistent',
])('another form is refused without the password, with the forms that work: %s', (url) => {
  expect(() => redisAddress(url, 'REDIS_QUEUE_URL')).toThrow(/^REDIS_QUEUE_URL .*\. Use redis:\/\/user/);
});

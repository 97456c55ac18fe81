import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { openJobs } from '#core/platform/jobs/open.ts';
import { RedisShared } from '#core/platform/shared/redis.ts';
import { silentLog } from '../../../support/database.ts';
import { type OwnRedisServer, startRedis } from '../../../support/global-redis.ts';
import { leastAcl, limits, useAll } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Rights that are taken from the user while it is connected, by the command that the driver sends by itself. */
const losses: readonly (readonly [what: string, ...rules: string[]])[] = [
  ['channels', 'resetchannels'],
  ['SUBSCRIBE', '-subscribe'],
  ['everything of channels', '-@pubsub'],
  ['SELECT', '-select'],
  ['CLIENT', '-client'],
  ['INFO', '-info'],
  ['scripts', '-@scripting'],
  ['reading and writing', '-@read', '-@write'],
  ['every command', '-@all'],
  ['the user itself', 'off'],
];

describe.skipIf(inject('redisUrl') === null)('a Redis whose access list changes while the gateway runs', () => {
  let server: OwnRedisServer | undefined;
  let admin: Redis;
  const rejections: unknown[] = [];
  const note = (reason: unknown) => void rejections.push(reason);
  const setUser = (...rules: string[]) => admin.call('ACL', 'SETUSER', 'daypass', ...rules);
  const cut = () => admin.call('CLIENT', 'KILL', 'USER', 'daypass');
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server?.url ?? '');
  });
  afterAll(async () => {
    admin.disconnect();
    await server?.stop();
  });
  beforeEach(() => void process.on('unhandledRejection', note));
  afterEach(() => void process.off('unhandledRejection', note));

  it.each(losses)('that takes away %s ends nothing, and all works once it is given back', async (_what, ...rules) => {
    await setUser('reset', 'on', '>secret', ...leastAcl.split(' '));
    const url = new URL(server?.url ?? '');
    Object.assign(url, { username: 'daypass', password: 'secret', pathname: '/1' });
    await using shared = await RedisShared.open(url.href, silentLog);
    const ran: (() => void)[] = [];
    await using jobs = openJobs({
      databaseUrl: '',
      redisUrl: url.href,
      definitions: new Map([['once', { name: 'once', description: 'Once.', run: async () => ran.shift()?.() }]]),
      host: () => undefined,
      log: silentLog,
    });
    jobs.work();
    const heard: string[] = [];
    await shared.events.subscribe('channel', (message) => heard.push(message));
    await vi.waitFor(() => shared.ping(), { timeout: 10_000 });

    await admin.call('ACL', 'LOG', 'RESET');
    await setUser(...rules);
    await cut();
    const refused = async () => expect(await admin.call('ACL', 'LOG')).not.toEqual([]);
    await vi.waitFor(refused, { timeout: 20_000, interval: 50 });
    // A second time, so that what follows the first refusal has happened.
    await admin.call('ACL', 'LOG', 'RESET');
    await cut();
    await vi.waitFor(refused, { timeout: 20_000, interval: 50 });
    expect(rejections).toEqual([]);

    await setUser('reset', 'on', '>secret', ...leastAcl.split(' '));
    await vi.waitFor(
      async () => {
        const message = randomUUID();
        await shared.events.publish('channel', message);
        await vi.waitFor(() => expect(heard).toContain(message), { timeout: 500 });
        const { lease } = await shared.limiter.take('key', limits({}));
        shared.limiter.release('key', lease ?? '');
      },
      { timeout: 30_000, interval: 100 },
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    ran.push(resolve);
    await vi.waitFor(() => jobs.add('once', {}), { timeout: 20_000 });
    await promise;
    expect(rejections).toEqual([]);
  });

  it('that takes away the user itself is not connected to any more after everything has closed', async () => {
    using connect = vi.spyOn(Redis.prototype, 'connect');
    await setUser('reset', 'on', '>secret', ...leastAcl.split(' '));
    const url = new URL(server?.url ?? '');
    Object.assign(url, { username: 'daypass', password: 'secret' });
    const ran = Promise.withResolvers<void>();
    const shared = await RedisShared.open(url.href, silentLog);
    const jobs = openJobs({
      databaseUrl: '',
      redisUrl: url.href,
      definitions: new Map([['once', { name: 'once', description: 'Once.', run: async () => ran.resolve() }]]),
      host: () => undefined,
      log: silentLog,
    });
    jobs.work();
    await vi.waitFor(() => jobs.add('once', {}), { timeout: 10_000 });
    await ran.promise;
    await admin.call('ACL', 'LOG', 'RESET');
    await setUser('off');
    await cut();
    await vi.waitFor(async () => expect(await admin.call('ACL', 'LOG')).not.toEqual([]), { timeout: 20_000 });
    await jobs[Symbol.asyncDispose]();
    await shared[Symbol.asyncDispose]();
    const clients = [...new Set(connect.mock.contexts)] as (Redis & { reconnectTimeout?: unknown })[];
    const isConnecting = ({ status, reconnectTimeout }: (typeof clients)[number]) =>
      Boolean(reconnectTimeout) || ['connecting', 'connect', 'ready'].includes(status);
    await vi.waitFor(() => expect(clients.filter(isConnecting).map(({ status }) => status)).toEqual([]));
    expect(clients.length).toBeGreaterThanOrEqual(5); // for commands, for subscriptions, the queue's, two of the worker
  });

  const opened = async (...rules: string[]) => {
    await setUser('reset', 'on', '>secret', ...leastAcl.split(' '), ...rules);
    const url = new URL(server?.url ?? '');
    Object.assign(url, { username: 'daypass', password: 'secret' });
    return url.href;
  };

  it('that refuses INFO has all that a gateway needs', async () => {
    await useAll(await opened('-info', '-client'));
  });

  it('that refuses SUBSCRIBE is named as such, until it no longer does', async () => {
    await using shared = await RedisShared.open(await opened('-subscribe'), silentLog);
    const subscribe = () => shared.events.subscribe('channel', () => undefined);
    await expect(subscribe()).rejects.toThrow();
    expect(shared.events.refusal?.reason).toBe('its user may not run subscribe');
    await opened();
    await subscribe();
    expect(shared.events.refusal).toBeUndefined();
  });

  it.each([
    ['-@scripting', 'its user may not run evalsha'],
    ['resetkeys', "its user may not use the gateway's keys or channels"],
  ])('that refuses by %s is named as such', async (rule, reason) => {
    await using shared = await RedisShared.open(await opened(rule), silentLog);
    await vi.waitFor(
      async () => expect(await shared.ping().catch((error: unknown) => describeConnectionError(error))).toBe(reason),
      { timeout: 10_000 },
    );
  });

  it('that is full and keeps its keys is named as such, by the cache and by the queue', async () => {
    const url = await opened();
    await using shared = await RedisShared.open(url, silentLog);
    await using jobs = openJobs({
      databaseUrl: '',
      redisUrl: url,
      definitions: new Map([['once', { name: 'once', description: 'Once.', run: async () => undefined }]]),
      host: () => undefined,
      log: silentLog,
    });
    jobs.work();
    await vi.waitFor(() => jobs.add('once', {}), { timeout: 10_000 });
    await admin.config('SET', 'maxmemory', '1');
    try {
      expect(await shared.cache.set('key', Buffer.from('value'), 60).catch(describeConnectionError)).toBe(
        'its memory is full',
      );
      expect(await jobs.add('once', {}).catch(describeConnectionError)).toBe('its memory is full');
      await vi.waitFor(() => expect(jobs.failure?.reason).toBe('its memory is full'), { timeout: 20_000 });
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    await vi.waitFor(() => expect(jobs.failure).toBeUndefined(), { timeout: 20_000 });
  });
});

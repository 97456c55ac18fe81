import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import type { JobQueue } from '#core/platform/jobs/open.ts';
import { createPoolConfig, createPostgresFactory } from '#core/platform/jobs/queue-factory.ts';
import { createTestDatabase, silentLog } from '../../../support/database.ts';
import { createSilentPort, holdClosedPort } from '../../../support/dead-ends.ts';
import { redisUrl } from '../../../support/redis.ts';
import { createTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.ts';
import { createMarker, openerOf, patience, readyOpenerOf, watched } from './fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** BullMQ has not created its tables there yet. */
async function createDatabaseWithoutJobs(): Promise<Database> {
  const created = await createTestDatabase();
  await created.query('DROP SCHEMA bullmq CASCADE');
  return created;
}

describe.concurrent('a queue that is away', () => {
  const { definition } = watched('any', () => undefined, { schedule: { every: 60 } });

  it.each([
    ['in PostgreSQL', 'refuses', (port: number) => ({ databaseUrl: `postgres://x:y@127.0.0.1:${port}/z` })],
    ['in PostgreSQL', 'never answers', (port: number) => ({ databaseUrl: `postgres://x:y@127.0.0.1:${port}/z` })],
    ['in Redis', 'refuses', (port: number) => ({ redisUrl: `redis://127.0.0.1:${port}` })],
    ['in Redis', 'never answers', (port: number) => ({ redisUrl: `redis://127.0.0.1:${port}` })],
  ] as const)('a queue %s that %s takes no job, and does not keep the gateway waiting', async (_place, how, at) => {
    await using silent = how === 'refuses' ? await holdClosedPort() : await createSilentPort();
    const warn = vi.fn<(message: string) => void>();
    const open = openerOf(at(silent.port));
    const jobs = await open([definition], { log: { ...silentLog, warn } });
    for (let count = 0; count < 2; count++) {
      await expect(jobs.add('any', {})).rejects.toBeInstanceOf(Error);
    }
    await jobs[Symbol.asyncDispose]();
    expect(warn.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it.skipIf(redisUrl === undefined)('a queue in Redis gets its schedules when it is there at last', async () => {
    const prefix = `test:${randomUUID()}`;
    const ticked = Promise.withResolvers<void>();
    const tick = watched('tick', () => ticked.resolve(), { schedule: { every: 60 } });
    const closed = await holdClosedPort();
    const { port } = closed;
    const way = new URL(redisUrl ?? '');
    way.hostname = '127.0.0.1';
    way.port = String(port);
    const jobs = await openerOf({ redisUrl: way.href, prefix })([tick.definition]);
    await expect(jobs.add('tick', {})).rejects.toBeInstanceOf(Error);
    await closed[Symbol.asyncDispose]();
    await using _way = await startWay(port, redisUrl ?? '');
    await ticked.promise;
    await jobs[Symbol.asyncDispose]();
    const client = new Redis(redisUrl ?? '');
    const keys = await client.keys(`${prefix}*`);
    if (keys.length > 0) await client.del(...keys);
    client.disconnect();
  });

  it.each(['cut', 'stall'] as const)(
    'a queue without running jobs closes within seconds when its Redis is gone (%s)',
    async (how) => {
      if (redisUrl === undefined) return;
      await using proxy = await proxyTo(redisUrl);
      const { definition: marker, reached } = createMarker();
      const jobs = await readyOpenerOf({ redisUrl: proxy.url, prefix: `test:${randomUUID()}` })([marker]);
      await jobs.add('marker', {});
      await reached;
      proxy.turn(how);
      const start = performance.now();
      await (jobs as JobQueue)[Symbol.asyncDispose]();
      // The store has two seconds for each of its two clients.
      expect(performance.now() - start).toBeLessThan(9_000);
    },
  );

  it('a queue in PostgreSQL gets its schedules and runs jobs when it is there at last', async () => {
    await using own = await createDatabaseWithoutJobs();
    await using proxy = await proxyTo(own.url);
    proxy.turn('cut');
    const ticked = Promise.withResolvers<void>();
    const tick = watched('tick', () => ticked.resolve(), { schedule: { every: 60 } });
    await using jobs = await openerOf({ databaseUrl: proxy.url })([tick.definition]);
    await expect(jobs.add('tick', {})).rejects.toBeInstanceOf(Error);
    proxy.turn('open');
    await ticked.promise;
  });

  it.each([1, 2, 3, 4, 6, 8, 12, 16])(
    'a queue in PostgreSQL is used again after it was lost at its answer %i',
    async (answer) => {
      await using own = await createDatabaseWithoutJobs();
      await using proxy = await proxyTo(own.url);
      const { definition: marker, reached } = createMarker();
      proxy.cutAfter(answer);
      await using jobs = await openerOf({ databaseUrl: proxy.url })([marker]);
      await proxy.isCut;
      proxy.turn('open');
      await vi.waitFor(() => jobs.add('marker', {}), { timeout: 15_000 });
      await reached;
    },
  );

  it('a queue in PostgreSQL leaves no connection of a failed attempt open', async () => {
    await using own = await createDatabaseWithoutJobs();
    // BullMQ connects and is refused its tables.
    await own.query('CREATE SCHEMA bullmq');
    await own.query('CREATE TABLE bullmq.migration (unexpected int)');
    const jobs = await openerOf({ databaseUrl: own.url })([definition], { isWorking: false });
    for (let count = 0; count < 5; count++) await expect(jobs.add('any', {})).rejects.toThrow(/column|relation/);
    await vi.waitFor(async () => {
      const open = await own.query(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'daypass-jobs'",
      );
      expect(open).toEqual([]);
    }, patience);
    await jobs[Symbol.asyncDispose]();
  });

  it('a queue in PostgreSQL logs a refused job and keeps its schedules coming', async () => {
    await using place = await createTestDatabase();
    const ran = Promise.withResolvers<void>();
    const warnings: string[] = [];
    const { definition: first } = watched('first', () => undefined, { schedule: { every: 3600 } });
    const { definition: second } = watched('second', () => ran.resolve(), { schedule: { every: 3600 } });
    const options = {
      databaseUrl: place.url,
      log: { ...silentLog, warn: (message: string) => warnings.push(message) },
      isWorking: false,
    };
    await using jobs = (await readyOpenerOf(options)([first, second], options)) as JobQueue;
    const blocker = new pg.Client(place.url);
    await blocker.connect();
    await blocker.query('begin; lock table bullmq.job in access exclusive mode');
    jobs.work();
    const blocked = 'select 1 from pg_locks where not granted';
    await vi.waitFor(async () => expect(await place.query(blocked)).not.toEqual([]), patience);
    await expect(jobs.add('first', { text: '\0' })).rejects.toThrow(/Unicode|UTF8/);
    await blocker.query('commit');
    await blocker.end();
    await ran.promise;
    expect(warnings).toEqual([expect.stringMatching(/^the job queue failed: .*(Unicode|UTF8)/)]);
  });

  it('a queue in PostgreSQL does not take a job after its caller was refused', async () => {
    await using own = await createDatabaseWithoutJobs();
    await using proxy = await proxyTo(own.url);
    const late = watched('late', () => undefined).definition;
    const { definition: marker } = createMarker();
    const jobs = await openerOf({ databaseUrl: proxy.url })([late, marker], { isWorking: false });
    proxy.turn('stall');
    await expect(jobs.add('late', {})).rejects.toThrow('the job queue did not respond within 2000 ms');
    proxy.turn('open');
    await vi.waitFor(() => jobs.add('marker', {}), { timeout: 15_000 });
    // Ends with the queries in flight.
    await jobs[Symbol.asyncDispose]();
    expect(await own.query('SELECT name FROM bullmq.job')).toEqual([{ name: 'marker' }]);
  });
});

/** A proxy to the PostgreSQL of this URL, and the URL through it. */
async function proxyTo(databaseUrl: string): Promise<TcpProxy & { readonly url: string }> {
  const url = new URL(databaseUrl);
  const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  return { ...proxy, url: url.href };
}

/** Makes a Redis reachable on this port. */
async function startWay(from: number, to: string): Promise<AsyncDisposable> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(Number(port === '' ? 6379 : port), hostname);
    for (const end of [socket, onward]) sockets.add(end.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  }).listen(from, '127.0.0.1');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it('a cron pattern that cannot be read is refused with the name of its job', async () => {
  const job = { ...watched('tick', () => {}).definition, schedule: { pattern: '99 * * * *' } };
  await expect(openerOf({})([job])).rejects.toThrow('job "tick": the cron pattern "99 * * * *" is not valid');
});

describe('the connections of jobs to PostgreSQL', () => {
  it('the connections of jobs to PostgreSQL keep a listener for errors whatever BullMQ removes', () => {
    const { Client } = createPoolConfig(database.url);
    const client = new Client();
    client.removeAllListeners('notification');
    client.removeAllListeners('error');
    client.removeAllListeners();
    expect(client.listenerCount('error')).toBe(1);
  });

  it('the connections of jobs to PostgreSQL end no process when the server ends the one that listens while the worker closes it', async () => {
    for (let time = 0; time < 30; time++) {
      const own = createPostgresFactory(database.url, `closing-${time}`);
      const worker = own.openWorker(async () => undefined);
      worker.on('error', () => undefined);
      await worker.waitUntilReady();
      await database.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = ?', [
        `closing-${time}`,
      ]);
      await worker.close();
    }
  });

  it('the connections of jobs to PostgreSQL end no process when they break while BullMQ holds them between two queries', async () => {
    const pool = new pg.Pool(createPoolConfig(database.url));
    const held = await pool.connect();
    // Not `once`: it would listen for errors itself.
    const ended = new Promise<void>((resolve) => held.on('end', resolve));
    const { rows } = await held.query<{ pid: number }>('select pg_backend_pid() as pid');
    await database.query('select pg_terminate_backend(?::int)', [rows[0]?.pid]);
    await ended;
    await expect(held.query('select 1')).rejects.toThrow();
    held.release(true);
    await pool.end();
  });
});

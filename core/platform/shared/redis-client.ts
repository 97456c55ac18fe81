import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster, type ClusterOptions, Redis, type RedisCommander, type RedisOptions } from 'ioredis';
import { jitteredDelay } from '../timing/backoff.ts';
import { withDeadline } from '../timing/deadline.ts';
import { type RedisAddress, parseRedisUrl, type RedisServer } from './redis-url.ts';

const connectTimeoutMs = 2_000;

/** The gateway's scripts: command, file, number of keys. In a cluster, all keys of a call must have the same hash slot. */
export const scripts = [
  ['gatewayTake', 'take', 2],
  ['gatewayRenew', 'renew', 1],
  ['gatewayHeartbeat', 'heartbeat', 1],
  ['gatewayExtend', 'extend', 1],
  ['gatewayRelease', 'release', 1],
  ['gatewayKeep', 'keep', 3],
  ['gatewayRecall', 'recall', 2],
  ['gatewaySlots', 'slots', 8],
] as const;

/** Commands of a client with the gateway's scripts, for one Redis or a cluster. */
export interface ScriptedRedis extends RedisCommander {
  gatewayTake(
    ...parameters: (string | number)[]
  ): Promise<[refused: number, debt: number, wait: number, running?: number]>;
  gatewayExtend(key: string, owner: string, milliseconds: number): Promise<number>;
  gatewayRelease(key: string, owner: string): Promise<number>;
  gatewayKeep(...parameters: (string | number | Buffer)[]): Promise<number>;
  gatewayRenew(key: string, lifetime: number, ...leases: string[]): Promise<null>;
  gatewayHeartbeat(key: string, instance: string, lifetime: number): Promise<[instances: number, isNew: number]>;
  gatewayRecallBuffer(...parameters: string[]): Promise<(Buffer | null)[]>;
  gatewaySlots(...parameters: (string | number)[]): Promise<(string | number)[]>;
}

export function redisRetryDelay(attempt: number): number {
  return jitteredDelay({ min: 100, max: 2_000 }, attempt);
}

/**
 * Suppresses commands that the driver sends when a connection opens. A rejected SUBSCRIBE could not be handled (`RedisEvents` resubscribes
 * itself), and Redis-compatible servers may not support CLIENT, or close the connection.
 */
export const quietHandshake = { autoResubscribe: false, disableClientInfo: true } satisfies RedisOptions;

/**
 * A client that never uses the wrong database, and always ends after QUIT. If Redis rejects the SELECT, it reconnects and leaves the
 * handshake unfinished; the driver would continue in database 0. If QUIT fails, it disconnects; the driver would reconnect forever, without
 * a listener for errors once BullMQ has closed.
 */
export class StrictRedis extends Redis {
  override select(...parameters: Parameters<Redis['select']>): Promise<'OK'> {
    const { promise, resolve } = Promise.withResolvers<'OK'>();
    super.select(...parameters).then(resolve, (error: unknown) => {
      this.silentEmit('error', error);
      this.disconnect(true);
    });
    return promise;
  }

  override quit(): Promise<'OK'> {
    return super.quit().catch(() => {
      this.disconnect();
      return 'OK';
    });
  }
}

const commandOptions = {
  connectTimeout: connectTimeoutMs,
  // Commands fail immediately while Redis is down, so that requests do not wait.
  enableOfflineQueue: false,
  // Commands are never resent, because a command in flight when the connection broke may have been executed.
  maxRetriesPerRequest: 0,
  keepAlive: 15_000,
  retryStrategy: redisRetryDelay,
  maxLoadingRetryTime: 500,
  ...quietHandshake,
  // After a failover, the old primary responds READONLY, in some versions inside a script error. Reconnecting finds the new primary.
  reconnectOnError: (error) => error.message.includes('READONLY'),
} satisfies RedisOptions;

const subscriberOptions = {
  ...commandOptions,
  enableOfflineQueue: true,
  socketTimeout: connectTimeoutMs,
} satisfies RedisOptions;

/**
 * Creates a client for commands without waiting for the connection, which is retried while Redis is down. `Circuit` sets the deadline of
 * commands.
 */
export async function connectClient(url: string): Promise<Redis & ScriptedRedis> {
  const lua = await readScripts();
  const client = createRedis(url, commandOptions);
  prepareConnections(client);
  return defineScripts(client, lua);
}

/** Like `connectClient`, for a cluster, with a connection to each primary. Commands follow keys that have moved. */
export async function connectCluster(address: RedisAddress): Promise<Cluster & ScriptedRedis> {
  const lua = await readScripts();
  const { reconnectOnError: _unused, ...redisOptions } = commandOptions;
  const client = createCluster(address, {
    redisOptions,
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: redisRetryDelay,
  });
  client.on('+node', prepareConnections);
  return defineScripts(client, lua);
}

function readScripts(): Promise<string[]> {
  return Promise.all(scripts.map(([, name]) => readFile(join(import.meta.dirname, `${name}.lua`), 'utf8')));
}

function defineScripts<Client extends Redis | Cluster>(client: Client, lua: readonly string[]): Client & ScriptedRedis {
  for (const [index, [command, , numberOfKeys]] of scripts.entries())
    client.defineCommand(command, { numberOfKeys, lua: lua[index] as string });
  return client as Client & ScriptedRedis;
}

/**
 * Creates a client for subscriptions, which need a separate connection. `RedisEvents` restores them after a reconnect, and sets the deadline
 * of commands.
 */
export function connectSubscriber(url: string): Redis {
  return createRedis(url, subscriberOptions);
}

/**
 * Like `connectSubscriber`, to any node of a cluster, because each node receives all messages. A lost connection is replaced by a connection
 * to the next node.
 */
export function connectClusterSubscriber({ cluster: seeds = [], ...address }: RedisAddress, cluster: Cluster): Redis {
  let nextIndex = Math.floor(Math.random() * seeds.length);
  const nextNode = (): RedisServer => {
    const discovered = cluster.nodes().map(readServer);
    const nodes = discovered.length > 0 ? discovered : seeds;
    return nodes[nextIndex++ % nodes.length] as RedisServer;
  };
  const subscriber: Redis = new Redis({
    ...subscriberOptions,
    enableReadyCheck: false,
    ...address,
    ...nextNode(),
    retryStrategy(attempt) {
      Object.assign(subscriber.options, nextNode());
      return redisRetryDelay(attempt);
    },
  });
  // A node that left the cluster still responds, but receives no messages.
  cluster.on('refresh', () => {
    const current = formatNodeName(subscriber);
    if (!cluster.nodes().some((node) => formatNodeName(node) === current)) replaceConnection(subscriber);
  });
  return subscriber;
}

function readServer({ options: { host = '', port = 0 } }: Redis): RedisServer {
  return { host, port };
}

/** Returns a node's name in the format of `Cluster.slots`. */
export function formatNodeName({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

/**
 * Creates a connection. INFO is only sent to a Sentinel's primary before use, because it may have become a replica. Other servers are used
 * as soon as they respond, even if they do not permit INFO; commands fail while data is loading.
 *
 * @param url any form of REDIS_URL except a cluster's
 */
export function createRedis(url: string, settings: Omit<RedisOptions, 'replyMapping'>): Redis {
  const { url: plainUrl, ...address } = parseRedisUrl(url);
  const enableReadyCheck = address.sentinels !== undefined;
  const allOptions = { ...settings, enableReadyCheck, ...address } as object as typeof settings;
  return plainUrl === undefined ? new StrictRedis(allOptions) : new StrictRedis(plainUrl, allOptions);
}

/** Creates a connection to a cluster. Each connection resolves its host name, because certificates are checked against the name. */
export function createCluster({ cluster = [], ...address }: RedisAddress, settings: ClusterOptions): Cluster {
  return new Cluster(cluster, {
    ...settings,
    dnsLookup: (host, callback) => callback(null, host),
    // The check would fail if any node did not respond.
    enableReadyCheck: false,
    redisOptions: {
      ...quietHandshake,
      ...settings.redisOptions,
      ...address,
      enableReadyCheck: false,
    } as object,
  });
}

export const clusterSlots = 16_384;

/** Reads INFO from one Redis, or from each primary of a cluster. `timeoutMs` limits the connection and each reply. */
export async function readInfo(url: string, timeoutMs: number): Promise<{ servers: string[]; unserved: number }> {
  const address = parseRedisUrl(url);
  const redisOptions = {
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    ...quietHandshake,
  };
  const singleAttempt = { lazyConnect: true, retryStrategy: () => null };
  const client =
    address.cluster === undefined
      ? createRedis(url, { ...redisOptions, ...singleAttempt })
      : createCluster(address, { redisOptions, lazyConnect: true, clusterRetryStrategy: () => null });
  let connectionError: Error | undefined;
  for (const event of ['error', 'node error']) client.on(event, (error: Error) => (connectionError ??= error));
  try {
    await withDeadline(client.connect(), timeoutMs, 'no response in time');
    if (client instanceof Redis) return { servers: [await client.info()], unserved: 0 };
    const servers = await Promise.all(client.nodes('master').map((node) => node.info()));
    return { servers, unserved: clusterSlots - Object.keys(client.slots).length };
  } catch (error) {
    throw connectionError ?? error;
  } finally {
    client.disconnect();
  }
}

/** Closes a connection, so that the client opens a new one. A graceful close would wait for a peer that may be gone. */
export function replaceConnection(client: Redis): void {
  if (client.status === 'ready' || client.status === 'connect') client.stream.destroy(new Error('no response in time'));
}

function prepareConnections(client: Redis): void {
  client.on('connect', () => {
    limitHandshake(client);
    batchWrites(client.stream);
  });
}

/** A suspended Redis accepts connections but never completes the handshake. */
function limitHandshake(client: Redis): void {
  const timer = setTimeout(() => replaceConnection(client), connectTimeoutMs).unref();
  const clear = () => {
    clearTimeout(timer);
    client.off('ready', clear).off('close', clear);
  };
  client.on('ready', clear).on('close', clear);
}

/**
 * Sends all commands of a turn of the event loop in one system call at its end. Their replies could not be read earlier anyway. A system
 * call for each would take a tenth to a quarter of a busy gateway's CPU time, and a third of Redis's.
 */
function batchWrites(stream: Redis['stream']): void {
  const write = stream.write as (...chunk: unknown[]) => boolean;
  let isCorked = false;
  const send = () => {
    isCorked = false;
    stream.uncork();
  };
  stream.write = (...chunk: unknown[]) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      setImmediate(send);
    }
    return write.apply(stream, chunk);
  };
}

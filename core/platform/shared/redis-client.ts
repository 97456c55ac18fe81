import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster, type ClusterOptions, Redis, type RedisCommander, type RedisOptions } from 'ioredis';
import { type RedisAddress, redisAddress, type RedisServer } from './redis-url.ts';
import { jitteredDelay } from '../timing/backoff.ts';
import { withDeadline } from '../timing/deadline.ts';

const connectTimeoutMs = 2_000;

/** The gateway's scripts: command, file, number of keys. In a cluster, the keys of a call have one hash slot. */
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

/** The commands of a client with the gateway's scripts, to one Redis or to a cluster. */
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

/** Ms before the n-th attempt to reconnect. */
export function redisRetryDelay(attempt: number): number {
  return jitteredDelay({ first: 100, longest: 2_000 }, attempt);
}

/**
 * Commands that the driver would send by itself when a connection opens: a refusal of SUBSCRIBE could not be handled (`RedisEvents`
 * subscribes again), and a Redis-like may not know CLIENT, or close the connection.
 */
export const quietHandshake = { autoResubscribe: false, disableClientInfo: true } satisfies RedisOptions;

/**
 * A client that reconnects while Redis refuses to SELECT its database: the driver would continue in database 0. The handshake of such a
 * connection never ends.
 */
export class SelectingRedis extends Redis {
  override select(...parameters: Parameters<Redis['select']>): Promise<'OK'> {
    const { promise, resolve } = Promise.withResolvers<'OK'>();
    super.select(...parameters).then(resolve, (error: unknown) => {
      this.silentEmit('error', error);
      this.disconnect(true);
    });
    return promise;
  }
}

const options = {
  connectTimeout: connectTimeoutMs,
  // A request must not wait while Redis is down: the command fails at once, and the caller decides.
  enableOfflineQueue: false,
  // Commands are never sent twice: one in flight when a connection broke may have been executed.
  maxRetriesPerRequest: 0,
  keepAlive: 15_000,
  retryStrategy: redisRetryDelay,
  maxLoadingRetryTime: 500,
  ...quietHandshake,
  // After a failover the old primary responds READONLY, some versions inside a script error; reconnecting finds the new one.
  reconnectOnError: (error) => error.message.includes('READONLY'),
} satisfies RedisOptions;

const subscriberOptions = {
  ...options,
  enableOfflineQueue: true,
  socketTimeout: connectTimeoutMs,
} satisfies RedisOptions;

/**
 * Connects for commands. Returns at once and keeps reconnecting while Redis is down. Commands have no deadline of their
 * own: `Circuit` sets it.
 */
export async function connectClient(url: string): Promise<Redis & ScriptedRedis> {
  const lua = await readScripts();
  const client = createRedis(url, options);
  prepareConnections(client);
  return withScripts(client, lua);
}

/** The same for a cluster, with a connection to each primary. Commands follow keys that have moved. */
export async function connectCluster(address: RedisAddress): Promise<Cluster & ScriptedRedis> {
  const lua = await readScripts();
  const { reconnectOnError: _unused, ...redisOptions } = options;
  const client = createCluster(address, {
    redisOptions,
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: redisRetryDelay,
  });
  client.on('+node', prepareConnections);
  return withScripts(client, lua);
}

function readScripts(): Promise<string[]> {
  return Promise.all(scripts.map(([, name]) => readFile(join(import.meta.dirname, `${name}.lua`), 'utf8')));
}

function withScripts<Client extends Redis | Cluster>(client: Client, lua: readonly string[]): Client & ScriptedRedis {
  for (const [index, [command, , numberOfKeys]] of scripts.entries())
    client.defineCommand(command, { numberOfKeys, lua: lua[index] as string });
  return client as Client & ScriptedRedis;
}

/**
 * Connects for subscriptions, which need their own connection. `RedisEvents` restores them when it reconnects, and sets the deadline of
 * commands.
 */
export function connectSubscriber(url: string): Redis {
  return createRedis(url, subscriberOptions);
}

/**
 * The same to any node of a cluster, because each passes on what is published at another. A connection that is lost is replaced by one
 * to the next node.
 */
export function connectClusterSubscriber({ cluster: seeds = [], ...address }: RedisAddress, cluster: Cluster): Redis {
  let turn = Math.floor(Math.random() * seeds.length);
  const nextNode = (): RedisServer => {
    const known = cluster.nodes().map(serverOf);
    const nodes = known.length > 0 ? known : seeds;
    return nodes[turn++ % nodes.length] as RedisServer;
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
  // One that has left the cluster answers still, and hears nothing.
  cluster.on('refresh', () => {
    const current = nodeName(subscriber);
    if (!cluster.nodes().some((node) => nodeName(node) === current)) replaceConnection(subscriber);
  });
  return subscriber;
}

function serverOf({ options: { host = '', port = 0 } }: Redis): RedisServer {
  return { host, port };
}

/** As in the slots of ioredis. */
export function nodeName({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

/**
 * Only a sentinel's primary is asked for INFO before it is used: it may have become a replica. Others are used as soon as they answer,
 * even if they refuse INFO; commands fail while data are loading.
 *
 * @param url in any form of REDIS_URL but that of a cluster
 */
export function createRedis(url: string, settings: Omit<RedisOptions, 'replyMapping'>): Redis {
  const { url: plain, ...address } = redisAddress(url);
  const enableReadyCheck = address.sentinels !== undefined;
  const all = { ...settings, enableReadyCheck, ...address } as object as typeof settings;
  return plain === undefined ? new SelectingRedis(all) : new SelectingRedis(plain, all);
}

/** Names are left to the connections: certificates are checked against them. */
export function createCluster({ cluster = [], ...address }: RedisAddress, settings: ClusterOptions): Cluster {
  return new Cluster(cluster, {
    ...settings,
    dnsLookup: (host, callback) => callback(null, host),
    // A cluster is usable even if its other nodes do not answer.
    enableReadyCheck: false,
    redisOptions: {
      ...quietHandshake,
      ...settings.redisOptions,
      ...address,
      enableReadyCheck: false,
    } as object as typeof quietHandshake,
  });
}

/** Hash slots of a cluster. */
export const clusterSlots = 16_384;

/**
 * Output of INFO: of one Redis, or of each primary of a cluster.
 *
 * @param url in any form of REDIS_URL
 * @param timeout ms to connect, and for each reply
 * @throws Error of the connection, or of the command
 */
export async function readInfo(url: string, timeout: number): Promise<{ servers: string[]; unserved: number }> {
  const address = redisAddress(url);
  const redisOptions = { connectTimeout: timeout, commandTimeout: timeout, maxRetriesPerRequest: 0, ...quietHandshake };
  const once = { lazyConnect: true, retryStrategy: () => null };
  const client =
    address.cluster === undefined
      ? createRedis(url, { ...redisOptions, ...once })
      : createCluster(address, { redisOptions, lazyConnect: true, clusterRetryStrategy: () => null });
  let lost: Error | undefined;
  for (const event of ['error', 'node error']) client.on(event, (error: Error) => (lost ??= error));
  try {
    await withDeadline(client.connect(), timeout, 'no response in time');
    if (client instanceof Redis) return { servers: [await client.info()], unserved: 0 };
    const servers = await Promise.all(client.nodes('master').map((node) => node.info()));
    return { servers, unserved: clusterSlots - Object.keys(client.slots).length };
  } catch (error) {
    throw lost ?? error;
  } finally {
    client.disconnect();
  }
}

/** Replaces a connection. Ending it politely would wait for a peer that may be gone. */
export function replaceConnection(client: Redis): void {
  if (client.status === 'ready' || client.status === 'connect') client.stream.destroy(new Error('no response in time'));
}

function prepareConnections(client: Redis): void {
  client.on('connect', () => {
    limitHandshake(client);
    sendTogether(client.stream);
  });
}

/** A stopped Redis accepts connections, but never completes the handshake. */
function limitHandshake(client: Redis): void {
  const timer = setTimeout(() => replaceConnection(client), connectTimeoutMs).unref();
  const end = () => {
    clearTimeout(timer);
    client.off('ready', end).off('close', end);
  };
  client.on('ready', end).on('close', end);
}

/**
 * Sends the commands of a turn of the event loop at its end, where their replies are read at the earliest, in one system call: one
 * for each takes a tenth to a quarter of a busy gateway's processor time, and a third of that of Redis.
 */
function sendTogether(stream: Redis['stream']): void {
  const write = stream.write as (...chunk: unknown[]) => boolean;
  let isHeld = false;
  const send = () => {
    isHeld = false;
    stream.uncork();
  };
  stream.write = (...chunk: unknown[]) => {
    if (!isHeld) {
      isHeld = true;
      stream.cork();
      setImmediate(send);
    }
    return write.apply(stream, chunk);
  };
}

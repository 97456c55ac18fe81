import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { redisAddress } from './redis-url.ts';
import { jitteredDelay } from '../timing/backoff.ts';

/** Ms for a connection to open, and then to be ready for commands. */
const connectTimeout = 2_000;

/** The gateway's scripts: command, file, number of keys. */
const scripts = [
  ['gatewayTake', 'take', 2],
  ['gatewayRenew', 'renew', 1],
  ['gatewayHeartbeat', 'heartbeat', 1],
  ['gatewayExtend', 'extend', 1],
  ['gatewayRelease', 'release', 1],
  ['gatewayKeep', 'keep', 3],
  ['gatewayRecall', 'recall', 2],
  ['gatewaySlots', 'slots', 8],
] as const;

/** A client with the gateway's scripts. */
export interface ScriptedRedis extends Redis {
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

const options = {
  connectTimeout,
  // A request must not wait while Redis is down: the command fails at once, and the caller decides.
  enableOfflineQueue: false,
  // Commands are never sent twice: one in flight when a connection broke may have been executed.
  maxRetriesPerRequest: 0,
  keepAlive: 15_000,
  retryStrategy: redisRetryDelay,
  maxLoadingRetryTime: 500,
  // After a failover the old primary responds READONLY, some versions inside a script error; reconnecting finds the new one.
  reconnectOnError: (error) => error.message.includes('READONLY'),
} satisfies RedisOptions;

/**
 * Connects for commands. Returns at once and keeps reconnecting while Redis is down. Commands have no deadline of their
 * own: `Circuit` sets it.
 */
export async function connectClient(url: string): Promise<ScriptedRedis> {
  const lua = await Promise.all(scripts.map(([, name]) => readFile(join(import.meta.dirname, `${name}.lua`), 'utf8')));
  const client = createRedis(url, options) as ScriptedRedis;
  limitHandshake(client);
  for (const [index, [command, , numberOfKeys]] of scripts.entries())
    client.defineCommand(command, { numberOfKeys, lua: lua[index] as string });
  return client;
}

/**
 * Connects for subscriptions, which need their own connection and are restored when it reconnects. Commands have no deadline
 * of their own: `RedisEvents` sets it.
 */
export function connectSubscriber(url: string): Redis {
  return createRedis(url, {
    ...options,
    enableOfflineQueue: true,
    autoResubscribe: true,
    socketTimeout: connectTimeout,
  });
}

/** @param url in any form of REDIS_URL */
export function createRedis(url: string, settings: Omit<RedisOptions, 'replyMapping'>): Redis {
  const { url: plain, ...address } = redisAddress(url);
  const all = { ...settings, ...address } as typeof settings;
  return plain === undefined ? new Redis(all) : new Redis(plain, all);
}

/** Replaces a connection. Ending it politely would wait for a peer that may be gone. */
export function replaceConnection(client: Redis): void {
  if (client.status === 'ready' || client.status === 'connect') client.stream.destroy(new Error('no response in time'));
}

/** A stopped Redis accepts connections, but never completes the handshake. */
function limitHandshake(client: Redis): void {
  client.on('connect', () => {
    const timer = setTimeout(() => replaceConnection(client), connectTimeout).unref();
    const end = () => {
      clearTimeout(timer);
      client.off('ready', end).off('close', end);
    };
    client.on('ready', end).on('close', end);
  });
}

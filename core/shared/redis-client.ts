import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { jitteredDelay } from '../timing/backoff.ts';
import { SharedUnavailable } from './shared.ts';

/** Ms that a command may take; the request it belongs to waits for it. */
const commandTimeout = 250;

/** A client with our scripts on it. */
export interface ScriptedRedis extends Redis {
  gatewayTake(...parameters: (string | number)[]): Promise<[refused: number, debt: number, wait: number]>;
  gatewayExtend(key: string, owner: string, milliseconds: number): Promise<number>;
  gatewayRelease(key: string, owner: string): Promise<number>;
}

/** Ms before a connection is tried again, for the n-th time. */
export function redisRetryDelay(attempt: number): number {
  return jitteredDelay({ first: 100, longest: 2_000 }, attempt);
}

const options = {
  commandTimeout,
  connectTimeout: 2_000,
  // A request must not wait for a Redis that is away: it fails at once, and the caller decides.
  enableOfflineQueue: false,
  // Nothing is sent twice: what was under way when a connection broke may have been done.
  maxRetriesPerRequest: 0,
  // A server that has vanished without closing its connections is looked for again, instead of minutes later.
  socketTimeout: 2_000,
  keepAlive: 15_000,
  retryStrategy: redisRetryDelay,
  // After a failover the old master answers READONLY, some versions inside a script's error: reconnecting finds the new one.
  reconnectOnError: (error) => error.message.includes('READONLY'),
} satisfies RedisOptions;

/** Connects for commands. Returns at once; a Redis that is away is looked for until it is there. */
export async function connectClient(url: string): Promise<ScriptedRedis> {
  const [take, extend, release] = await Promise.all([script('take'), script('extend'), script('release')]);
  const client = new Redis(url, options) as ScriptedRedis;
  client.defineCommand('gatewayTake', { numberOfKeys: 2, lua: take });
  client.defineCommand('gatewayExtend', { numberOfKeys: 1, lua: extend });
  client.defineCommand('gatewayRelease', { numberOfKeys: 1, lua: release });
  return client;
}

/** Connects for subscriptions, which a connection for commands cannot have. They come back with the connection. */
export function connectSubscriber(url: string): Redis {
  return new Redis(url, { ...options, enableOfflineQueue: true, autoResubscribe: true });
}

function script(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, `${name}.lua`), 'utf8');
}

/** @throws SharedUnavailable in the place of whatever the driver throws, with its reason */
export async function guard<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SharedUnavailable(`the shared store did not answer: ${reason}`, { cause: error });
  }
}

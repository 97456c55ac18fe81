import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { describeConnectionError, isConnectionError } from '../errors/connection-error.ts';
import { jitteredDelay } from '../timing/backoff.ts';
import { SharedUnavailable } from './shared.ts';

/** Ms that a command may take while a request waits for it. */
const commandTimeout = 250;

/** A client with the gateway's scripts. */
export interface ScriptedRedis extends Redis {
  gatewayTake(...parameters: (string | number)[]): Promise<[refused: number, debt: number, wait: number]>;
  gatewayExtend(key: string, owner: string, milliseconds: number): Promise<number>;
  gatewayRelease(key: string, owner: string): Promise<number>;
  gatewayKeep(...parameters: (string | number | Buffer)[]): Promise<number>;
  gatewayRecallBuffer(...parameters: string[]): Promise<(Buffer | null)[]>;
}

/** Ms before the n-th attempt to reconnect. */
export function redisRetryDelay(attempt: number): number {
  return jitteredDelay({ first: 100, longest: 2_000 }, attempt);
}

const options = {
  commandTimeout,
  connectTimeout: 2_000,
  // A request must not wait while Redis is down: the command fails at once, and the caller decides.
  enableOfflineQueue: false,
  // Commands are never sent twice: one in flight when a connection broke may have been executed.
  maxRetriesPerRequest: 0,
  // Reconnects when a server has vanished without closing its connections, instead of minutes later.
  socketTimeout: 2_000,
  keepAlive: 15_000,
  retryStrategy: redisRetryDelay,
  // After a failover the old primary responds READONLY, some versions inside a script error; reconnecting finds the new one.
  reconnectOnError: (error) => error.message.includes('READONLY'),
} satisfies RedisOptions;

/** Connects for commands. Returns at once and keeps reconnecting while Redis is down. */
export async function connectClient(url: string): Promise<ScriptedRedis> {
  const [take, extend, release, keep, recall] = await Promise.all([
    script('take'),
    script('extend'),
    script('release'),
    script('keep'),
    script('recall'),
  ]);
  const client = new Redis(url, options) as ScriptedRedis;
  client.defineCommand('gatewayTake', { numberOfKeys: 2, lua: take });
  client.defineCommand('gatewayExtend', { numberOfKeys: 1, lua: extend });
  client.defineCommand('gatewayRelease', { numberOfKeys: 1, lua: release });
  client.defineCommand('gatewayKeep', { numberOfKeys: 3, lua: keep });
  client.defineCommand('gatewayRecall', { numberOfKeys: 2, lua: recall });
  return client;
}

/** Connects for subscriptions, which need their own connection and are restored when it reconnects. */
export function connectSubscriber(url: string): Redis {
  return new Redis(url, { ...options, enableOfflineQueue: true, autoResubscribe: true });
}

function script(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, `${name}.lua`), 'utf8');
}

/** Errors of the driver in our words; those of a script as they are. */
function reasonOf(error: unknown): string {
  return isConnectionError(error) || !(error instanceof Error) ? describeConnectionError(error) : error.message;
}

/** @throws SharedUnavailable with the driver's error as its cause */
export async function guard<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new SharedUnavailable(`Redis did not respond: ${reasonOf(error)}`, { cause: error });
  }
}

import { guard, type ScriptedRedis } from './redis-client.ts';
import type { Cache, CacheEntry } from './shared.ts';

const entryKey = (key: string) => `gw:cache:entry:${key}`;
const claimKey = (key: string) => `gw:cache:claim:${key}`;

/** Bytes before a cached value: its lifetime in seconds. */
const headBytes = 4;

export class RedisCache implements Cache {
  readonly #client: ScriptedRedis;

  constructor(client: ScriptedRedis) {
    this.#client = client;
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const [value, left] = await guard(
      Promise.all([this.#client.getBuffer(entryKey(key)), this.#client.pttl(entryKey(key))]),
    );
    if (value === null || left <= 0) return undefined;
    const expiresIn = left / 1000;
    return { value: value.subarray(headBytes), age: Math.max(0, value.readUInt32BE(0) - expiresIn), expiresIn };
  }

  async set(key: string, value: Buffer, seconds: number): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(Math.ceil(seconds));
    await guard(this.#client.set(entryKey(key), Buffer.concat([head, value]), 'PX', Math.ceil(seconds * 1000)));
  }

  async claim(key: string, owner: string, seconds: number): Promise<boolean> {
    return (await guard(this.#client.set(claimKey(key), owner, 'PX', Math.ceil(seconds * 1000), 'NX'))) === 'OK';
  }

  async extend(key: string, owner: string, seconds: number): Promise<boolean> {
    return (await guard(this.#client.gatewayExtend(claimKey(key), owner, Math.ceil(seconds * 1000)))) === 1;
  }

  async release(key: string, owner: string): Promise<void> {
    await guard(this.#client.gatewayRelease(claimKey(key), owner));
  }
}

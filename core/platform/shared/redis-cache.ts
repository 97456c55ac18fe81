import type { ScriptedRedis } from './redis-client.ts';
import type { RedisNodes } from './redis-nodes.ts';
import type { Cache, CacheEntry } from './shared.ts';

const entryKey = (key: string) => `gw:cache:entry:${key}`;
const claimKey = (key: string) => `gw:cache:claim:${key}`;

const headBytes = 4; // prefix of a cached value: its lifetime in seconds

export class RedisCache implements Cache {
  readonly #client: ScriptedRedis;
  readonly #nodes: RedisNodes;

  constructor(client: ScriptedRedis, nodes: RedisNodes) {
    this.#client = client;
    this.#nodes = nodes;
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const find = () => Promise.all([this.#client.getBuffer(entryKey(key)), this.#client.pttl(entryKey(key))]);
    const [value, remainingMs] = await this.#nodes.circuitOf(entryKey(key)).run(find);
    if (value === null || remainingMs <= 0) return undefined;
    const expiresIn = remainingMs / 1000;
    return { value: value.subarray(headBytes), age: Math.max(0, value.readUInt32BE(0) - expiresIn), expiresIn };
  }

  async set(key: string, value: Buffer, seconds: number): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(Math.ceil(seconds));
    const stored = Buffer.concat([head, value]);
    const store = () => this.#client.set(entryKey(key), stored, 'PX', Math.ceil(seconds * 1000));
    await this.#nodes.circuitOf(entryKey(key)).run(store);
  }

  async claim(key: string, owner: string, seconds: number): Promise<boolean> {
    const claim = () => this.#client.set(claimKey(key), owner, 'PX', Math.ceil(seconds * 1000), 'NX');
    return (await this.#nodes.circuitOf(claimKey(key)).run(claim)) === 'OK';
  }

  async extend(key: string, owner: string, seconds: number): Promise<boolean> {
    const extend = () => this.#client.gatewayExtend(claimKey(key), owner, Math.ceil(seconds * 1000));
    return (await this.#nodes.circuitOf(claimKey(key)).run(extend)) === 1;
  }

  async release(key: string, owner: string): Promise<void> {
    const release = () => this.#client.gatewayRelease(claimKey(key), owner);
    await this.#nodes.circuitOf(claimKey(key)).run(release);
  }
}

import { guard, type ScriptedRedis } from './redis-client.ts';
import type { GroupCache, GroupLimits } from './shared.ts';

const keysOf = (group: string) => ['values', 'expiries', 'bytes'].map((kind) => `gw:group:${kind}:${group}`);

export class RedisGroups implements GroupCache {
  readonly #client: ScriptedRedis;

  constructor(client: ScriptedRedis) {
    this.#client = client;
  }

  async get(group: string, names: readonly string[]): Promise<Map<string, Buffer>> {
    const [values = '', expiries = ''] = keysOf(group);
    const found = await guard(this.#client.gatewayRecallBuffer(values, expiries, ...names));
    return new Map(
      names.flatMap((name, index) => {
        const value = found[index];
        return Buffer.isBuffer(value) ? [[name, value] as const] : [];
      }),
    );
  }

  async set(group: string, entries: ReadonlyMap<string, Buffer>, limits: GroupLimits): Promise<void> {
    const { seconds, entries: mostEntries, bytes } = limits;
    const lifetime = Math.ceil(seconds * 1000);
    await guard(this.#client.gatewayKeep(...keysOf(group), lifetime, mostEntries, bytes, ...[...entries].flat()));
  }
}

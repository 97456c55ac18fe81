import type { Circuit } from './circuit.ts';
import type { ScriptedRedis } from './redis-client.ts';
import type { GroupCache, GroupLimits } from './shared.ts';

const keysOf = (group: string) => ['values', 'expiries', 'bytes'].map((kind) => `gw:group:${kind}:${group}`);

export class RedisGroups implements GroupCache {
  readonly #client: ScriptedRedis;
  readonly #circuit: Circuit;

  constructor(client: ScriptedRedis, circuit: Circuit) {
    this.#client = client;
    this.#circuit = circuit;
  }

  async get(group: string, names: readonly string[]): Promise<Map<string, Buffer>> {
    const [values = '', expiries = ''] = keysOf(group);
    const found = await this.#circuit.run(() => this.#client.gatewayRecallBuffer(values, expiries, ...names));
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
    await this.#circuit.run(() =>
      this.#client.gatewayKeep(...keysOf(group), lifetime, mostEntries, bytes, ...[...entries].flat()),
    );
  }
}

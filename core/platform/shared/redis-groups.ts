import type { ScriptedRedis } from './redis-client.ts';
import type { RedisNodes } from './redis-nodes.ts';
import type { GroupCache, GroupLimits } from './shared.ts';

/** In a cluster, braces keep the keys on one node. Without a cluster, names without braces match older versions. */
const createKeys = (group: string, isCluster: boolean) =>
  ['values', 'expiries', 'bytes'].map((kind) => `gw:group:${kind}:${isCluster ? `{${group}}` : group}`);

export class RedisGroups implements GroupCache {
  readonly #client: ScriptedRedis;
  readonly #nodes: RedisNodes;
  readonly #isCluster: boolean;

  constructor(client: ScriptedRedis, nodes: RedisNodes, isCluster: boolean) {
    this.#client = client;
    this.#nodes = nodes;
    this.#isCluster = isCluster;
  }

  async get(group: string, names: readonly string[]): Promise<Map<string, Buffer>> {
    const [valuesKey = '', expiriesKey = ''] = createKeys(group, this.#isCluster);
    const recall = () => this.#client.gatewayRecallBuffer(valuesKey, expiriesKey, ...names);
    const values = await this.#nodes.circuitOf(valuesKey).run(recall);
    return new Map(
      names.flatMap((name, index) => {
        const value = values[index];
        return Buffer.isBuffer(value) ? [[name, value] as const] : [];
      }),
    );
  }

  async set(group: string, entries: ReadonlyMap<string, Buffer>, limits: GroupLimits): Promise<void> {
    const { seconds, entries: maxEntries, bytes } = limits;
    const lifetime = Math.ceil(seconds * 1000);
    const keys = createKeys(group, this.#isCluster);
    const keep = () => this.#client.gatewayKeep(...keys, lifetime, maxEntries, bytes, ...[...entries].flat());
    await this.#nodes.circuitOf(keys[0] as string).run(keep);
  }
}

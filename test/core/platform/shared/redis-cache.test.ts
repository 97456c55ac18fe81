import { expect, it } from 'vitest';
import { RedisCache } from '#core/platform/shared/redis-cache.ts';
import type { ScriptedRedis } from '#core/platform/shared/redis-client.ts';
import type { RedisNodes } from '#core/platform/shared/redis-nodes.ts';

const circuit = { run: (command: () => unknown) => command() };
const nodes = { circuitOf: () => circuit } as unknown as RedisNodes;

it('an entry that expires while it is read is not there', async () => {
  const client = { getBuffer: async () => Buffer.from('head and value'), pttl: async () => -2 };
  expect(await new RedisCache(client as unknown as ScriptedRedis, nodes).get('key')).toBeUndefined();
});

import { expect, it } from 'vitest';
import type { Circuit } from '#core/platform/shared/circuit.ts';
import { RedisCache } from '#core/platform/shared/redis-cache.ts';
import type { ScriptedRedis } from '#core/platform/shared/redis-client.ts';

const circuit = { run: (command: () => unknown) => command() } as unknown as Circuit;

it('an entry that expires while it is read is not there', async () => {
  const client = { getBuffer: async () => Buffer.from('head and value'), pttl: async () => -2 };
  expect(await new RedisCache(client as unknown as ScriptedRedis, circuit).get('key')).toBeUndefined();
});

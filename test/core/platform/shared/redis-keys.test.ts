import { expect, it } from 'vitest';
import { RedisCache } from '#core/platform/shared/redis-cache.ts';
import { type ScriptedRedis, scripts } from '#core/platform/shared/redis-client.ts';
import { computeHashSlot } from '#core/platform/shared/redis-cluster.ts';
import type { RedisEvents } from '#core/platform/shared/redis-events.ts';
import { RedisGroups } from '#core/platform/shared/redis-groups.ts';
import { RedisLimiter } from '#core/platform/shared/redis-limiter.ts';
import type { RedisNodes } from '#core/platform/shared/redis-nodes.ts';
import { RedisSlots } from '#core/platform/shared/redis-slots.ts';
import { unusedResult } from '#core/platform/shared/slots.ts';

interface Call {
  readonly command: string;
  readonly keys: readonly string[];
  /** By which the circuit was found; undefined for a command without one. */
  readonly circuit: string | undefined;
}

/** Calls everything that uses several keys, or one by a circuit. Returns what was sent. */
async function callAll(isCluster: boolean): Promise<Call[]> {
  const calls: Call[] = [];
  let circuit: string | undefined;
  const answers: Record<string, unknown> = { getBuffer: null, gatewayTake: [0, 0, 0], gatewayRecallBuffer: [] };
  const client = new Proxy({} as ScriptedRedis, {
    get:
      (_target, command: string) =>
      async (...parameters: string[]) => {
        const script = scripts.find(([name]) => command.replace(/Buffer$/, '') === name);
        calls.push({ command, keys: parameters.slice(0, script?.[2] ?? 1), circuit });
        return answers[command] ?? [];
      },
  });
  const nodes = {
    circuitOf: (key: string) => ({
      async run(command: () => Promise<unknown>) {
        circuit = key;
        const answer = command();
        circuit = undefined;
        return answer;
      },
    }),
  } as unknown as RedisNodes;
  const limiter = new RedisLimiter(client, nodes);
  const limits = { limit: 10, period: 60, burst: 10, concurrent: 2 };
  const { lease = '' } = await limiter.take('sign-in:::1', limits);
  await limiter.peek('sign-in:::1', limits);
  limiter.onRecovery();
  limiter.release('sign-in:::1', lease);
  await limiter.take('account 2', limits);
  await limiter.releaseAll();
  const cache = new RedisCache(client, nodes);
  await cache.get('key');
  await cache.set('key', Buffer.from('value'), 1);
  await cache.claim('key', 'owner', 1);
  await cache.extend('key', 'owner', 1);
  await cache.release('key', 'owner');
  const groups = new RedisGroups(client, nodes, isCluster);
  await groups.set('threads:1', new Map([['name', Buffer.from('value')]]), { seconds: 1, entries: 1, bytes: 9 });
  await groups.get('threads:1', ['name']);
  const slots = new RedisSlots(client, nodes, {} as RedisEvents);
  const pool = { concurrent: 1, requests: 1, periodMs: 1, waitingByAccount: 1, waiting: 1 };
  const ask = { id: 'id', account: 'account', weight: 1, mayWait: true };
  await slots.enter('{up}stream', pool, ask);
  await slots.adopt('{up}stream', pool, ask, 1);
  await slots.end('{up}stream', pool, 'id', unusedResult);
  await slots.beat('{up}stream', pool);
  return calls;
}

it('in a cluster, all keys of a command have one slot, which is that of its circuit', async () => {
  const calls = await callAll(true);
  const sent = new Set(calls.map(({ command }) => command.replace(/Buffer$/, '')));
  expect(scripts.filter(([name, , keys]) => keys > 1 && !sent.has(name))).toEqual([]);
  for (const { command, keys, circuit } of calls)
    expect([command, ...new Set([...keys, circuit ?? keys[0] ?? ''].map(computeHashSlot))]).toHaveLength(2);
});

it('without a cluster, keys have the names by which the version before knows them', async () => {
  const keys = new Set((await callAll(false)).flatMap((call) => call.keys));
  expect([...keys].filter((key) => !key.includes(':slots:'))).toEqual([
    'gw:limit:arrival:{sign-in:::1}',
    'gw:limit:leases:{sign-in:::1}',
    'gw:limit:arrival:{account 2}',
    'gw:limit:leases:{account 2}',
    'gw:cache:entry:key',
    'gw:cache:claim:key',
    'gw:group:values:threads:1',
    'gw:group:expiries:threads:1',
    'gw:group:bytes:threads:1',
  ]);
});

import { expect, it, vi } from 'vitest';
import { keyClosures } from '#core/gateway/model-call/key-closures.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { ClosedKeyKeeper } from '../../../plugins/closed-keys/keeper.ts';

it('an answer that was on its way when another instance closed its key does not open it for all', async () => {
  let now = 1_000_000;
  const kept = new Map<string, unknown>();
  const deleted: unknown[] = [];
  const host = {
    monotonic: () => now,
    keep(name: string, make: () => unknown) {
      if (!kept.has(name)) kept.set(name, make());
      return kept.get(name);
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    database: {
      query(sql: string) {
        if (sql.includes('delete')) deleted.push(sql);
        return Promise.resolve(sql.includes('from closed_key order') ? [{ digest: 'd', left: 86_400_000 }] : []);
      },
    },
  } as unknown as Host;
  const closures = keyClosures(host);
  const keeper = new ClosedKeyKeeper(host);
  closures.keeper = keeper;
  await keeper.read();
  const closure = closures.named('d');
  closures.accepted(closure);
  expect([deleted.length, closure.until > now]).toEqual([0, true]);
  now += 60_001;
  await keeper.read(); // hears of it again: its time goes on
  closures.accepted(closure);
  await vi.waitUntil(() => deleted.length === 1);
  expect(closure.until).toBe(0);
});

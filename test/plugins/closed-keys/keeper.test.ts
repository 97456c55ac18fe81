import { expect, it, vi } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { closureRules } from '#core/gateway/model-call/closure-rules.ts';
import { getKeyClosures } from '#core/gateway/model-call/key-closures.ts';
import { ClosedKeyKeeper } from '../../../plugins/closed-keys/keeper.ts';

interface Row {
  readonly digest: string;
  readonly left: number;
}
const closedRow: Row = { digest: 'd', left: 86_400_000 };

/** A host with a clock that the test sets, and what it answers to statements. */
class Instance {
  now = 1_000_000;
  /** What is on record. */
  rows: readonly Row[] = [closedRow];
  /** Reads take as long as this says. */
  delay: () => Promise<void> = () => Promise.resolve();
  deletes = 0;
  /** Ends the write of a closure. */
  readonly written = Promise.withResolvers<boolean>();
  readonly #kept = new Map<string, unknown>();
  readonly host = {
    monotonic: () => this.now,
    keep: (name: string, make: () => unknown) => {
      if (!this.#kept.has(name)) this.#kept.set(name, make());
      return this.#kept.get(name);
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    database: {
      query: async (sql: string) => {
        if (sql.includes('delete')) this.deletes++;
        if (!sql.includes('from closed_key order')) return [];
        const seen = this.rows;
        await this.delay();
        return seen;
      },
      fork: () => ({ transactional: () => this.written.promise }),
    },
  } as unknown as Host;
  readonly closures = getKeyClosures(this.host);
  readonly keeper = new ClosedKeyKeeper(this.host);

  constructor() {
    this.closures.store = this.keeper;
  }
}

it('an answer that was on its way when another instance closed its key does not open it for all', async () => {
  const one = new Instance();
  await one.keeper.read();
  const closure = one.closures.getById('d');
  one.closures.recordAccepted(closure);
  expect([one.deletes, closure.until > one.now]).toEqual([0, true]);
  one.now += 60_001;
  await one.keeper.read(); // hears of it again: its time goes on
  one.closures.recordAccepted(closure);
  await vi.waitUntil(() => one.deletes === 1);
  expect(closure.until).toBe(0);
});

it('a reading that is answered late does not take the place of a later one', async () => {
  const one = new Instance();
  const gate = Promise.withResolvers<void>();
  one.delay = () => gate.promise;
  const early = one.keeper.read();
  one.delay = () => Promise.resolve();
  one.rows = [];
  const late = Promise.all([one.keeper.read(), one.keeper.read()]);
  await new Promise(setImmediate);
  gate.resolve();
  await Promise.all([early, late]);
  expect(one.closures.getById('d').until).toBe(0);
});

it('a reading during which a request has closed a key leaves it closed', async () => {
  const one = new Instance();
  one.rows = [];
  const gate = Promise.withResolvers<void>();
  one.delay = () => gate.promise;
  const reading = one.keeper.read();
  one.now += 1;
  const closure = one.closures.getById('d');
  one.closures.report(closure, { upstream: 'glm', rule: closureRules[0]!, message: 'closed', request: 'r' });
  gate.resolve();
  await reading;
  expect(closure.until).toBeGreaterThan(one.now);
  one.now += 1;
  await one.keeper.read(); // its record is still on the way
  expect(closure.until).toBeGreaterThan(one.now);
  one.written.resolve(false);
});

import { expect, it } from 'vitest';
import { CapacityPool } from '../../../../plugins/upstream/capacity/pool.ts';
import { silentLog } from '../../../support/database.ts';
import { limits } from './simulation.ts';

it('a place that is given up has the position and the wait that its account would get now', async () => {
  const parts = { log: silentLog, store: undefined, monotonic: () => 0 };
  using pool = new CapacityPool('scarce', 'scarce', { ...limits, concurrent: 1 }, parts);
  const ask = (account: string) => pool.requestSlot({ account, weight: 1, mayWait: true }, 'model', () => {});
  await ask('a');
  const [ahead, behind] = [await ask('b'), await ask('c')];
  expect(behind).toMatchObject({ state: 'waiting', position: 2, expectedMs: 2_000 });
  await pool.end(ahead, { isServed: false, refusedShare: 0 });
  await pool.end(behind, { isServed: false, refusedShare: 0 });
  expect(behind).toMatchObject({ state: 'over', position: 1, expectedMs: 1_000 });
});

import { expect, it, vi } from 'vitest';
import { getBackgroundRuns } from '../../../../../plugins/format/state/responses-store/runs.ts';

it('the end of a run does not remove a later run of the same response', () => {
  const runs = getBackgroundRuns({ keep: (_name: string, create: () => unknown) => create() } as never);
  const key = { accountId: 'a', id: 'resp_1' };
  const [first, second] = [vi.fn(), vi.fn()];
  const removeFirst = runs.add(key, first);
  runs.add(key, second);
  removeFirst();
  runs.stop(key);
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
});

import { expect, it } from 'vitest';
import { findFewestDays } from '../../../plugins/balances/state.ts';

it('an upstream with keys of several accounts lasts as long as the first of them', () => {
  const days = findFewestDays([
    { upstreams: ['deepseek', 'deepseek-messages'], days: 30 },
    { upstreams: ['deepseek'], days: 0.5 },
    { upstreams: ['moonshot'], days: undefined },
  ]);
  expect([...days]).toEqual([
    ['deepseek', 0.5],
    ['deepseek-messages', 30],
  ]);
});

import { describe, expect, it } from 'vitest';
import { UsageTally } from '../../../../plugins/format/canonical/usage-tally.ts';

const zero = { input: 0, output: 0, cacheRead: 0 };

describe('counts of zero that an upstream reports', () => {
  it('are replaced by estimates if there is a text', () => {
    const tally = new UsageTally(() => 30);
    tally.recordReported(zero);
    tally.addWritten(80);
    expect(tally.isEstimated).toBe(true);
    expect(tally.accountedUsage).toMatchObject({ input: 30, output: 20 });
  });

  it('are kept for an answer without content', () => {
    const tally = new UsageTally(() => 30);
    tally.recordReported(zero);
    expect(tally.isEstimated).toBe(false);
    expect(tally.accountedUsage).toMatchObject({ input: 0, output: 0 });
  });

  it('are kept for a prompt that was cached as a whole', () => {
    const tally = new UsageTally(() => 30);
    tally.recordReported({ ...zero, cacheRead: 9 });
    tally.addWritten(80);
    expect(tally.accountedUsage).toMatchObject({ input: 9, output: 20 });
  });

  it.each([
    ['prompt', { input: 0, output: 7 }, { input: 30, output: 7 }],
    ['answer', { input: 50, output: 0 }, { input: 50, output: 20 }],
  ])('are replaced where only the %s has none', (_part, reported, usage) => {
    const tally = new UsageTally(() => 30);
    tally.recordReported(reported);
    tally.addWritten(80);
    expect(tally.accountedUsage).toMatchObject(usage);
  });
});

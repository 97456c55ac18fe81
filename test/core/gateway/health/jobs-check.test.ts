import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { jobsCheck, rescheduledGauge } from '#core/gateway/health/process-checks.ts';

const hostWith = (late: Record<string, number>, rescheduled = 0) => {
  const host = createTestHost();
  return {
    ...host,
    jobs: { ...host.jobs, schedules: { lateSince: new Map(Object.entries(late)), rescheduleCount: rescheduled } },
  };
};

describe('the health of jobs', () => {
  it('is good while all repeated jobs run', () => {
    expect(jobsCheck.check(hostWith({}, 7))).toEqual({ ok: true });
  });

  it('names the jobs that do not run, since the first of them stopped', () => {
    const verdict = jobsCheck.check(hostWith({ 'send-mails': 2_000, 'usage-rollup': 1_000 }));
    expect(verdict).toMatchObject({
      ok: false,
      since: 1_000,
      reason: expect.stringContaining('(send-mails, usage-rollup)'),
    });
  });

  it('is bad once the queue has not worked for five minutes, whatever the clock was set to meanwhile', () => {
    const host = hostWith({});
    const failure = { reason: 'connection refused', since: 1_000 };
    const after = (seconds: number) =>
      jobsCheck.check({
        ...host,
        jobs: { ...host.jobs, failure },
        now: () => 1_000_000 - 3_600_000,
        monotonic: () => 1_000 + seconds * 1_000,
      });
    expect(after(299)).toEqual({ ok: true });
    expect(after(300)).toMatchObject({
      ok: false,
      since: 1_000_000 - 3_600_000 - 300_000,
      reason: expect.stringContaining('connection refused'),
    });
  });
});

it('the gauge counts rescheduled jobs', async () => {
  expect(await rescheduledGauge.read(hostWith({}, 3))).toEqual([{ value: 3 }]);
});

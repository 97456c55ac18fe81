import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { type Alert, type Problem, type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import { composeAlert } from '../../../plugins/mail/alerts/alert.ts';

const problem: Problem = {
  severity: 'warn',
  title: 'Reminder due',
  subject: 'call-back',
  pieces: readEmphasis('*call back* is due'),
  since: new Date('2026-11-29T10:00:00Z'),
  step: { path: '/operator/reminders' },
};

const compose = (...found: Problem[]) => {
  const kind: ProblemKind = {
    name: 'reminder',
    order: 90,
    alert: { event: 'payments.delayed', isWatched: true },
    find: () => found,
  };
  const payload = { day: '2026-11-29', since: '2026-11-29T10:00:00Z' };
  const source = { problems: new Map([['reminder', kind]]), healthChecks: new Map() };
  return composeAlert(createTestHost(), source as never, { event: 'payments.delayed', payload } as never, 'en');
};

it('an alert that nothing composes says what its problem says', async () => {
  expect(await compose(problem)).toEqual({
    title: 'Reminder due',
    text: 'call back is due',
    facts: [],
    path: '/operator/reminders',
    data: {
      total: 1,
      problems: [
        {
          problem: 'reminder',
          severity: 'warn',
          title: 'Reminder due',
          text: 'call back is due',
          subject: 'call-back',
          since: '2026-11-29T10:00:00.000Z',
          page: '/operator/reminders',
          runbook: null,
        },
      ],
    },
  });
});

it('an alert that nothing composes lists the other problems of its kind, up to twenty in all', async () => {
  const another = { ...problem, pieces: readEmphasis('*send the offer* is due') };
  const alert = await compose(problem, ...Array.from({ length: 24 }, () => another));
  expect(alert).toMatchObject({ text: 'call back is due', data: { total: 25 } });
  expect((alert as Alert).facts).toEqual(Array.from({ length: 19 }, () => ['Reminder due', 'send the offer is due']));
});

it('an alert about a problem that is over is not sent', async () => {
  expect(await compose()).toBe('the problem is over');
});

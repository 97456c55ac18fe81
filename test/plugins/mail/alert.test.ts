import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { type Problem, type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
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
    data: { subject: 'call-back', since: '2026-11-29T10:00:00.000Z' },
  });
});

it('an alert about a problem that is over is not sent', async () => {
  expect(await compose()).toBe('the problem is over');
});

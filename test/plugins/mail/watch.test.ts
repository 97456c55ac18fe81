import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { Problem, ProblemKind } from '#core/web/problems/problem.ts';
import { watchForAlerts } from '../../../plugins/mail/alerts/watch.ts';

function kindOf(event: string, find: ProblemKind['find']): ProblemKind {
  return { name: event, order: 1, alert: { event, isWatched: true }, find } as ProblemKind;
}

it('a problem that cannot be read does not silence the alerts about others', async () => {
  const problem: Problem = { severity: 'warn', title: 'late', pieces: [], step: { path: '/' } };
  const kinds = [
    kindOf('cached_input.fell', () => Promise.reject(new Error('no answer within 10 s'))),
    kindOf('payments.delayed', () => [problem]),
  ];
  const recorded: unknown[] = [];
  const transaction = { execute: (_sql: string, [name]: unknown[]) => Promise.resolve(recorded.push(name)) };
  const host = createTestHost();
  const own = {
    ...host,
    now: () => Date.parse('2026-11-29T00:30:00+07:00'),
    section: (section: { readonly name: string }) =>
      section.name === 'alerts' ? { mail: 'ops@example.com', digest_hour: 8 } : host.section(section as never),
    database: { fork: () => ({ transactional: (work: (one: unknown) => unknown) => work(transaction) }) },
  };
  const source = { problems: new Map(kinds.map((kind) => [kind.name, kind])), pageTexts: [] };
  await watchForAlerts(own as never, source as never);
  expect(recorded).toEqual(['payments.delayed']);
});

import { expect, it } from 'vitest';
import { describeReadiness, nodeDiagnosis } from '#core/process/doctor/machine.ts';
import { runAsNode } from '../../../support/as-node.ts';

const passing = { name: 'disk', ok: true };
const problem = (name: string, severity: string, text: string) => ({ problem: name, severity, title: 'Title', text });

it('a running gateway without problems is fine, whatever hints it has', () => {
  const hint = problem('no_backup', 'info', 'one upstream');
  expect(describeReadiness({ status: 'ok', checks: [passing], problems: [hint] })).toEqual({
    state: 'ok',
    text: 'runs, ok',
  });
});

it('problems of a running gateway are a warning, with where they are mended, five at most by name', () => {
  const problems = Array.from({ length: 7 }, (_, index) => problem('model', 'bad', `model ${index} fails`));
  const { state, text, advice } = describeReadiness({ status: 'ok', checks: [passing], problems });
  expect([state, advice]).toEqual(['warning', '/operator links each to the page that fixes it.']);
  expect(text).toMatch(/^runs; Title: model 0 fails · .*Title: model 4 fails · 2 more$/);
});

it('a failing check of a running gateway is reported once, as a failure, before other problems', () => {
  const failing = { name: 'disk', ok: false, reason: '1 MB left. Free some.' };
  const problems = [
    problem('check', 'bad', 'Disk: 1 MB left. Free some.'),
    problem('mail', 'warn', 'a receipt is lost'),
  ];
  const finding = describeReadiness({ status: 'degraded', checks: [failing, passing], problems });
  expect(finding.state).toBe('failed');
  expect(finding.text).toBe('runs, degraded: disk: 1 MB left. Free some. · Title: a receipt is lost');
});

it('a gateway of an earlier version, which tells of no problems, is judged by its checks', () => {
  expect(describeReadiness({ status: 'ok', checks: [passing] })).toEqual({ state: 'ok', text: 'runs, ok' });
});

it.each([
  ['24.8.0', 'warning', /^does not support WebSockets/],
  ['24.9.0', 'warning', /^lacks the security fixes/],
  ['26.12.1', 'ok', /^has the known security fixes$/],
])('Node.js %s is judged by what it lacks', async (version, state, text) => {
  using _version = runAsNode(version);
  const [check] = nodeDiagnosis.checks({} as never);
  expect(await check?.run(new AbortController().signal)).toMatchObject({
    state,
    text: expect.stringMatching(text) as string,
  });
  expect(check?.subject).toBe(version);
});

import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { createProblemReader, describeProblems } from '#core/web/problems/find-problems.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { unfinishedActions } from '../../../plugins/operator/overview/unfinished-problems.ts';
import en from '../../../plugins/operator/texts/en.json' with { type: 'json' };
import id from '../../../plugins/operator/texts/id.json' with { type: 'json' };

const pageTexts = [ownTexts, ...coreTexts, { en, id }];
const at = Date.parse('2031-05-12T12:00:00Z');
const row = {
  id: '7',
  operator: 'ops@example.com',
  action: 'route.reset',
  subject: 'one/a',
  note: null,
  error: null,
  created_at: at - 3_600_000,
  finished_at: null,
};
const database = { query: async (sql: string) => (sql.includes('operator_action') ? [row] : []) };

it('an operator reads who requested an action whose outcome is unknown, and programs do not', async () => {
  await using plain = createTestHost({ now: at });
  const host = Object.assign(plain, { database }) as unknown as typeof plain;
  const [problem] = await unfinishedActions.find(createProblemReader(pageTexts, host, 'en'));
  expect(problem?.pieces.map(({ text }) => text).join('')).toMatch(
    /^one\/a, .+ \(ops@example\.com\): its process ended before it finished/,
  );
  const told = await describeProblems(
    { pageTexts, problems: new Map([['action_unfinished', unfinishedActions]]) },
    host,
  );
  expect(told).toMatchObject([
    { problem: 'action_unfinished', text: expect.stringMatching(/\S: its process ended before it finished/) },
  ]);
  expect(JSON.stringify(told)).not.toContain('ops@example.com');
});

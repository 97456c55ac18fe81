import { describe, expect, it, vi } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { createCheckProblems } from '#core/web/problems/check-problems.ts';
import {
  findProblems,
  createProblemReader,
  describeProblem,
  describeProblems,
} from '#core/web/problems/find-problems.ts';
import type { Problem, ProblemKind } from '#core/web/problems/problem.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';

const now = Date.parse('2031-05-12T12:00:00Z');
const pageTexts = [ownTexts, ...coreTexts];

const problem = (title: string, severity: Problem['severity']): Problem => ({
  severity,
  title,
  pieces: [{ text: title }],
  step: { path: '/operator/routes' },
});

const kind = (
  name: string,
  order: number,
  find: ProblemKind['find'],
  more: Partial<ProblemKind> = {},
): ProblemKind => ({
  name,
  order,
  find,
  ...more,
});

const registered = (...kinds: readonly ProblemKind[]) => ({
  pageTexts,
  problems: new Map(kinds.map((one) => [one.name, one])),
});

it('problems come by severity, and of one severity in the order of their kinds', async () => {
  await using host = createTestHost({ now });
  const gateway = registered(
    kind('late', 90, () => [problem('late warning', 'warn'), problem('late disaster', 'bad')]),
    kind('early', 10, async () => [problem('hint', 'info'), problem('early warning', 'warn')]),
  );
  const { problems: found, total } = await findProblems(gateway, createProblemReader(pageTexts, host, 'en'));
  expect(found.map(({ title }) => title)).toEqual(['late disaster', 'early warning', 'late warning', 'hint']);
  expect(total).toBe(4);
});

it('a kind that lists some of its problems counts all', async () => {
  await using host = createTestHost({ now });
  const gateway = registered(kind('money', 10, () => Object.assign([problem('one', 'bad')], { total: 12 })));
  const { problems: found, total } = await findProblems(gateway, createProblemReader(pageTexts, host, 'en'));
  expect([found.length, total]).toEqual([1, 12]);
});

it('a kind that cannot be read is a problem, not under its own name, and hides no other', async () => {
  await using host = createTestHost({ now });
  const lost = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { code: 'ECONNREFUSED' });
  const gateway = registered(
    kind('payments_unconfirmed', 10, () => Promise.reject(lost), { runbook: 'payments-unconfirmed' }),
    kind('key', 20, () => {
      throw new Error('no such column');
    }),
    kind('model', 30, () => [problem('down', 'bad')]),
  );
  expect(await describeProblems(gateway, host)).toMatchObject([
    {
      problem: 'unread',
      severity: 'bad',
      title: 'Not known',
      text: 'payments unconfirmed: The check failed: connection refused',
      subject: 'payments_unconfirmed',
      runbook: null,
    },
    { problem: 'unread', severity: 'bad', text: 'key: The check failed: no such column', subject: 'key' },
    { problem: 'model', title: 'down' },
  ]);
});

it('problems that a silent database would have shown are one problem, in addition to the failing check', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const never = new Promise<never>(() => undefined);
    await using plain = createTestHost({ now });
    const host = Object.assign(plain, { database: { kind: 'postgres', ping: () => never } }) as unknown as typeof plain;
    const gateway = registered(
      kind('order_flagged', 5, () => never),
      createCheckProblems({ healthChecks: new Map() }),
      kind('mail', 110, () => never),
      kind('model', 120, () => [problem('down', 'bad')]),
    );
    const reading = findProblems(gateway, createProblemReader(pageTexts, host, 'en'));
    await vi.advanceTimersByTimeAsync(3_000);
    const { problems: found, total } = await reading;
    expect(found.map(describeProblem)).toMatchObject([
      { problem: 'check', subject: 'database', runbook: 'docs/runbooks/database-down.md' },
      { problem: 'model' },
      {
        problem: 'unread',
        severity: 'bad',
        text: expect.stringMatching(/ the database does not answer: order flagged, mail$/),
        subject: null,
        runbook: 'docs/runbooks/database-down.md',
      },
    ]);
    expect(total).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});

const conditionalKinds = () => ({
  mail: kind(
    'mail',
    10,
    vi.fn(() => [problem('mail', 'warn')]),
    { precondition: 'EXISTS (SELECT FROM mail)' },
  ),
  flag: kind(
    'flag',
    20,
    vi.fn(() => [problem('flag', 'warn')]),
    { precondition: 'EXISTS (SELECT FROM flag)' },
  ),
  model: kind('model', 30, () => [problem('model', 'warn')]),
});

async function findOf({ mail, flag, model }: ReturnType<typeof conditionalKinds>, query: () => Promise<object[]>) {
  await using plain = createTestHost({ now });
  const host = Object.assign(plain, { database: { query } }) as unknown as typeof plain;
  const { problems: found, total } = await findProblems(
    registered(mail, flag, model),
    createProblemReader(pageTexts, host, 'en'),
  );
  return { titles: found.map(({ title }) => title), total };
}

describe('kinds with preconditions', () => {
  it('are asked in one statement, and read where theirs holds', async () => {
    const query = vi.fn(() => Promise.resolve([{ 0: false, 1: true }]));
    const some = conditionalKinds();
    expect(await findOf(some, query)).toEqual({ titles: ['flag', 'model'], total: 2 });
    expect(query.mock.calls).toEqual([
      ['SELECT (EXISTS (SELECT FROM mail)) AS "0", (EXISTS (SELECT FROM flag)) AS "1"'],
    ]);
    expect(some.mail.find).not.toHaveBeenCalled();
  });

  it('are all read where the statement fails', async () => {
    const some = conditionalKinds();
    const { titles } = await findOf(some, () => Promise.reject(new Error('no such table')));
    expect(titles).toEqual(['mail', 'flag', 'model']);
  });
});

it('programs that ask within ten seconds share one reading, and pages read anew', async () => {
  await using host = createTestHost({ now });
  const find = vi.fn(() => [problem('down', 'bad')]);
  const gateway = registered(kind('model', 10, find));
  await Promise.all([describeProblems(gateway, host), describeProblems(gateway, host)]);
  host.clock.advance(9_000);
  expect(await describeProblems(gateway, host)).toMatchObject([{ title: 'down' }]);
  expect(find).toHaveBeenCalledTimes(1);
  await findProblems(gateway, createProblemReader(pageTexts, host, 'en'));
  host.clock.advance(1_000);
  await describeProblems(gateway, host);
  expect(find).toHaveBeenCalledTimes(3);
});

it('programs get a problem without personal data, with since when, its page and its runbook', async () => {
  await using host = createTestHost({ now });
  const flagged: Problem = {
    ...problem('Wrong amount', 'bad'),
    subject: 'ORD-1',
    pieces: [{ text: 'Order ORD-1' }, { text: ', ani@example.com', isPersonal: true }, { text: ' paid Rp 59.000' }],
    since: new Date(now),
    step: { path: '/operator/flags/7' },
  };
  const gateway = registered(
    kind('flag', 10, () => [flagged, { ...flagged, since: undefined, runbook: 'jobs-late' }], {
      runbook: 'flags-open',
    }),
  );
  const [first, second] = await describeProblems(gateway, host);
  expect(first).toEqual({
    problem: 'flag',
    severity: 'bad',
    title: 'Wrong amount',
    text: 'Order ORD-1 paid Rp 59.000',
    subject: 'ORD-1',
    since: '2031-05-12T12:00:00.000Z',
    page: '/operator/flags/7',
    runbook: 'docs/runbooks/flags-open.md',
  });
  expect(second).toMatchObject({ since: null, runbook: 'docs/runbooks/jobs-late.md' });
});

import { expect, it } from 'vitest';
import type { ModelHealth } from '#core/business/model-health/model-health.ts';
import { noTraffic } from '#core/business/model-health/trouble.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { configProblems } from '#core/extension/validation/config-problems.ts';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { createCheckProblems } from '#core/web/problems/check-problems.ts';
import { findProblems, createProblemReader, describeProblems } from '#core/web/problems/find-problems.ts';
import { failedJobsProblem, missingBackupsProblem } from '#core/web/problems/machine-problems.ts';
import { describeBreakers, describeModels } from '#core/web/problems/model-problems.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';

const now = Date.parse('2031-05-12T12:00:00Z');
const minute = 60_000;
const t = new Translator([ownTexts, ...coreTexts]).in('en');

function modelIn(state: ModelHealth['state'], id_: string, since: number): ModelHealth {
  const trouble = { kind: state === 'degraded' ? 'degraded' : 'down', cause: 'failing' } as const;
  const traffic = { ...noTraffic, failed: 3, answered: 1 };
  return { id: id_, state, trouble, since, failedAt: since, firstTokenMs: undefined, routes: [], traffic };
}

const open = (route: string, ago: number): RouteStatus => ({
  route,
  state: 'open',
  open_until: new Date(now + 22_000).toISOString(),
  open_since: new Date(now - ago).toISOString(),
  reason: `route: 503 ${'overloaded '.repeat(40)}`,
});

async function needsOf(
  models: readonly ModelHealth[],
  statuses: readonly RouteStatus[],
  isBroken = false,
  offered: readonly object[] = [],
  failedCount = 2,
) {
  const catalog = { models: offered } as unknown as Catalog;
  const fine = { kind: 'test', ping: () => Promise.resolve() };
  const failed = [
    { name: 'send-mails', reason: 'no server', failedAt: now - minute },
    { name: 'reconcile', reason: 'timeout', failedAt: now - 60 * minute },
  ];
  const allFailed = Array.from({ length: failedCount }, (_, index) => failed[Math.min(index, 1)]);
  const jobs = {
    state: () => Promise.resolve({ waiting: 0, running: 0, longestWait: 0, failed: isBroken ? allFailed : [] }),
  };
  const host = Object.assign(createTestHost({ now, catalog }), { database: fine, shared: fine, jobs });
  if (isBroken)
    getConfigLoadState(host as never).refusal = { refusedAt: now - 5 * minute, reason: 'gateway.yaml:3:1 bad\nmore' };
  const request = { host, t, format: getFormatter('en', 'UTC') } as unknown as PageRequest;
  const checks = new Map(
    isBroken
      ? [['disk', { name: 'disk', check: () => ({ ok: false as const, reason: '1 MB left. Free some.', since: now }) }]]
      : [],
  );
  const byRoute = new Map(statuses.map((one) => [one.route, one]));
  const kinds: readonly ProblemKind[] = [
    { name: 'model', order: 10, find: (reader) => describeModels(models, reader) },
    { name: 'breaker', order: 50, find: (reader) => describeBreakers(byRoute, models, reader) },
    createCheckProblems({ healthChecks: checks }),
    failedJobsProblem,
    missingBackupsProblem,
    ...configProblems,
  ];
  const { problems: found } = await findProblems(
    { problems: new Map(kinds.map((kind) => [kind.name, kind])) },
    request,
  );
  return found.map(({ severity, pieces, since, step }) => ({
    kind: severity,
    text: pieces.map((piece) => piece.text).join(''),
    since: since && request.format.relative(since, new Date(now)).text,
    path: step.path,
  }));
}

it('nothing needs action while all is well', async () => {
  const working = { ...modelIn('working', 'dp/a', now), trouble: undefined };
  expect(await needsOf([working], [{ route: 'one/a', state: 'closed', open_until: null, reason: null }])).toEqual([]);
});

const upstream = (baseUrl: string) => ({ upstream: { name: 'one', baseUrl, isDemo: false } });

it('models without a backup on another host share a line, at most ten of them by name', async () => {
  const alone = Array.from({ length: 12 }, (_, index) => ({
    publicName: `dp/m${index}`,
    routes: [upstream('https://a.test/v1')],
  }));
  const safe = { publicName: 'dp/safe', routes: [upstream('https://a.test/v1'), upstream('https://b.test/v1')] };
  expect(await needsOf([], [], false, [alone[0] as object, safe])).toMatchObject([
    {
      kind: 'info',
      text: 'dp/m0 has only one upstream; if it fails, the model is down. Add a route to another vendor.',
    },
  ]);
  const [need, ...others] = await needsOf([], [], false, alone);
  expect(others).toEqual([]);
  expect(need?.text).toMatch(/^dp\/m0, .*, dp\/m9, 2 more have only one upstream each; /);
});

it('models in trouble are listed down before degraded before silent, each the oldest first', async () => {
  const needs = await needsOf(
    [
      modelIn('unknown', 'dp/silent', now - 90 * minute),
      modelIn('degraded', 'dp/slow', now - 3 * minute),
      modelIn('down', 'dp/late', now - minute),
      modelIn('down', 'dp/early', now - 10 * minute),
    ],
    [],
  );
  expect(needs).toMatchObject([
    {
      kind: 'bad',
      text: 'Requests to dp/early fail. In the last five minutes 3 of 4 requests failed.',
      since: '10 min ago',
    },
    { kind: 'bad', text: expect.stringContaining('dp/late') },
    { kind: 'warn', text: expect.stringContaining('dp/slow') },
    { kind: 'info', text: expect.stringContaining('no traffic since it failed') },
  ]);
});

it('a model of which only failures are known is listed, without trouble that is known now', async () => {
  const never = { ...modelIn('unknown', 'dp/never', now), trouble: undefined, failedAt: undefined };
  expect(await needsOf([never], [])).toMatchObject([
    { kind: 'info', text: expect.stringContaining('dp/never'), since: undefined },
  ]);
});

it('more models than ten share a line', async () => {
  const many = Array.from({ length: 13 }, (_, index) => modelIn('down', `dp/${index}`, now - index * minute));
  const needs = await needsOf(many, []);
  expect(needs).toHaveLength(11);
  expect(needs.at(-1)).toMatchObject({ kind: 'bad', text: '3 more models are in trouble.' });
});

it('more models than ten that had no traffic are no warning', async () => {
  const needs = await needsOf(
    Array.from({ length: 11 }, (_, index) => modelIn('unknown', `dp/${index}`, now)),
    [],
  );
  expect(needs.at(-1)).toMatchObject({ kind: 'info', text: '1 more model is in trouble.' });
});

it('a model without an incident is listed as the latest', async () => {
  const never = { ...modelIn('unknown', 'dp/never', now), trouble: undefined, since: undefined };
  const needs = await needsOf([never, modelIn('unknown', 'dp/silent', now - minute)], []);
  expect(needs.map(({ text }) => /dp\/\w+/.exec(text)?.[0])).toEqual(['dp/silent', 'dp/never']);
});

it('more upstreams than ten with open breakers share a line', async () => {
  const needs = await needsOf(
    [],
    Array.from({ length: 13 }, (_, index) => open(`up${index}/a`, index * minute)),
  );
  expect(needs).toHaveLength(11);
  expect(needs.at(-1)).toEqual({
    kind: 'warn',
    text: '3 more upstreams have breakers that are not closed.',
    since: '2 min ago',
    path: '/operator/routes',
  });
});

it('breakers that are open are listed by upstream, since the first opened, with the reason', async () => {
  const needs = await needsOf([], [open('one/a', minute), open('one/b', 3 * minute), open('two/x/y', 2 * minute)]);
  expect(needs).toMatchObject([
    {
      kind: 'warn',
      text: expect.stringMatching(/^2 breakers of upstream one are not closed\. Open, next probe in 22.s \(503/),
    },
    { kind: 'warn', text: expect.stringMatching(/^The breaker of two\/x\/y is not closed\./), since: '2 min ago' },
  ]);
  expect(needs[0]?.since).toBe('3 min ago');
  expect(Math.max(...needs.map(({ text }) => text.length))).toBeLessThan(220);
});

it('a model in trouble explains the breakers of its routes, which have no lines of their own', async () => {
  const routes = [open('one/a', minute), open('two/a', 3 * minute)];
  const down = { ...modelIn('down', 'dp/a', now - 3 * minute), routes };
  const needs = await needsOf([down], [...routes, open('two/b', minute)]);
  expect(needs).toMatchObject([
    {
      kind: 'bad',
      text: expect.stringMatching(/dp\/a fail\..* one\/a: Open, next probe in 22.s \(503 .*two\/a: Open/),
    },
    { kind: 'warn', text: expect.stringMatching(/^The breaker of two\/b is not closed\./) },
  ]);
});

it('failing checks, a rejected gateway.yaml and failed jobs lead to the health page', async () => {
  expect(await needsOf([], [], true)).toMatchObject([
    { kind: 'bad', text: 'Disk: 1 MB left. Free some.', path: '/operator/health' },
    {
      kind: 'bad',
      text: expect.stringMatching(/^gateway\.yaml was rejected.*gateway\.yaml:3:1 bad more$/),
      since: '5 min ago',
    },
    { kind: 'warn', text: '2 jobs failed in the last 24 hours, the latest send-mails (no server)', since: '1 h ago' },
  ]);
});

it('as many failed jobs as are read at once are called at least that many', async () => {
  const texts = (await needsOf([], [], true, [], 100)).map(({ text }) => text);
  expect(texts).toContain('100 or more jobs failed in the last 24 hours, the latest send-mails (no server)');
});

it.each([
  [
    'a change that was taken back',
    { note: 'it was bad', variant: undefined },
    'rolled back; configuration 3 serves',
    'it was bad',
  ],
  ['a canary that is full', { note: undefined, variant: 2 }, 'canary 2 serves all accounts, as configuration 3', ''],
])('programs do not read who is responsible for %s, operators do', async (_, more, sentence, note) => {
  await using host = createTestHost({ now });
  const rollback = { fileDigest: '', configurationId: 3, operator: 'ops@example.com', createdAt: new Date(now) };
  getConfigLoadState(host).rollback = { ...rollback, ...more };
  const pageTexts = [ownTexts, ...coreTexts];
  const gateway = { pageTexts, problems: new Map(configProblems.map((kind) => [kind.name, kind])) };
  const [told] = await describeProblems(gateway, host);
  expect(told?.text).toContain(sentence);
  expect(told?.text).not.toContain('ops@example.com');
  const { problems: found } = await findProblems(gateway, createProblemReader(pageTexts, host, 'id'));
  const read = found[0]?.pieces.map(({ text }) => text).join('');
  expect(read).toContain('ops@example.com');
  expect(read).toContain(note);
});

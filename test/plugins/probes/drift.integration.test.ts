import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { getDemotedRoutes } from '#core/gateway/model-call/demoted-routes.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { runDueProbes } from '../../../plugins/probes/jobs.ts';
import { listChecks } from '../../../plugins/probes/probe-route.ts';
import { readLastResults, readSpending, removeOldResults } from '../../../plugins/probes/results.ts';
import { probeGauges, probesCheck, getProbeState } from '../../../plugins/probes/state.ts';
import { readRouteStatuses } from '../../../plugins/upstream/routes.ts';
import { createTestDatabase } from '../../support/database.ts';
import { type Drift, openWorld, type ProbeWorld } from './fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const without =
  (...names: string[]) =>
  (body: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));

const message = (answer: JsonObject) => (answer['choices'] as { message: JsonObject }[])[0]?.message ?? {};

/** The model behind the route was replaced: it says, knows and likes other things. */
const replaced = (answer: JsonObject): JsonObject => {
  const said = message(answer);
  if (typeof said['content'] === 'string' && said['content'].startsWith('You said: '))
    said['content'] = `Greetings, I am another model ${said['content'].length % 7}`;
  return answer;
};

const renamed =
  (maker: string) =>
  (answer: JsonObject, body: JsonObject): JsonObject => {
    if (JSON.stringify(body).includes('Who made you')) message(answer)['content'] = `I am made by ${maker}.`;
    return answer;
  };

async function failuresOf({ host, route }: ProbeWorld): Promise<string[]> {
  const results = await readLastResults(host.database, [route.id]);
  return results.filter(({ state }) => state !== 'ok').map(({ check, state, reason }) => `${check} ${state} ${reason}`);
}

async function probed(world: ProbeWorld): Promise<string[]> {
  await runDueProbes(world.host, world.trials);
  return failuresOf(world);
}

it('an honest upstream is flagged for nothing, and every check that it declares is done', async () => {
  const world = await openWorld(database, {}, { maxInputTokens: 4_000 });
  const { host, model, route } = world;
  const config = {
    ...host,
    section: () => ({ daily_tokens: 100_000, every_hours: 24, context_every_days: 7 }) as never,
  };
  await runDueProbes(config, world.trials);
  const results = await readLastResults(database, [route.id]);
  expect(results.map(({ check }) => check).toSorted()).toEqual(
    listChecks(model, route)
      .map(({ name }) => name)
      .toSorted(),
  );
  expect(results.filter(({ state }) => state !== 'ok')).toEqual([]);
});

const drifts: [string, Drift, string[]][] = [
  ['sends streams in one piece', { isBuffered: true }, ['streams failed not_streamed']],
  ['does not count tokens', { hidesUsage: true }, ['usage failed no_usage']],
  [
    'bills more than it was sent',
    {
      changes: (answer) => ({ ...answer, usage: { prompt_tokens: 9_000, completion_tokens: 5, total_tokens: 9_005 } }),
    },
    ['usage failed overbilled'],
  ],
  ['calls no tools', { ignores: without('tools') }, ['tool failed no_call', 'two_tools failed no_call']],
  [
    'calls one tool at a time',
    { ignores: (body) => ({ ...body, parallel_tool_calls: false }) },
    ['two_tools failed one_call'],
  ],
  ['ignores schemas', { ignores: without('response_format') }, ['schema failed not_json']],
  [
    'does not see images',
    { ignores: (body) => JSON.parse(JSON.stringify(body).replaceAll('image_url', 'hidden')) as JsonObject },
    ['image failed blind'],
  ],
  [
    'refuses images',
    { refuses: (body) => (JSON.stringify(body).includes('image_url') ? 400 : undefined) },
    ['image failed refused'],
  ],
  ['does not reason', { ignores: without('reasoning_effort') }, ['reasoning failed no_reasoning']],
  ['ignores max_tokens', { ignores: without('max_tokens', 'max_completion_tokens') }, ['max_tokens failed over_limit']],
  ['ignores stop sequences', { ignores: without('stop') }, ['stop failed past_stop']],
  ['does not answer', { refuses: () => 500 }, ['answers failed unreachable']],
  ['asks for patience', { refuses: () => 429 }, ['answers unknown throttled']],
];

it.each(drifts)('an upstream that %s is flagged for exactly that', async (_title, drift, expected) => {
  const world = await openWorld(database);
  world.drift = drift;
  expect(await probed(world)).toEqual(expected);
});

it('a route that does not answer is asked nothing else, and again after an hour', async () => {
  const world = await openWorld(database);
  world.drift = { refuses: () => 500 };
  expect(await probed(world)).toEqual(['answers failed unreachable']);
  const asked = world.upstream.requests.length;
  await probed(world);
  expect(world.upstream.requests).toHaveLength(asked);
  world.drift = {};
  world.advance(1);
  expect(await probed(world)).toEqual([]);
});

it('a route is probed again after a day although the clock was set back by a week', async () => {
  const world = await openWorld(database);
  world.advance(7 * 24);
  await probed(world);
  world.advance(-7 * 24);
  await probed(world);
  const asked = world.upstream.requests.length;
  world.advance(24);
  await probed(world);
  expect(world.upstream.requests.length).toBeGreaterThan(asked);
});

it('an instance whose clock is ahead deletes no results of probes before their time', async () => {
  const world = await openWorld(database);
  await probed(world);
  await database.query('update probes_result set started_at = clock_timestamp()');
  const results = await readLastResults(database, [world.route.id]);
  expect(results).not.toEqual([]);
  await removeOldResults(database, Date.now() + 365 * 24 * 3_600_000);
  expect(await readLastResults(database, [world.route.id])).toEqual(results);
  await database.query(`update probes_result set started_at = started_at - interval '61 days' where not is_baseline`);
  await removeOldResults(database, Date.now());
  expect(await database.query('select 1 from probes_result where not is_baseline')).toEqual([]);
});

it('a prompt that the vendor cuts at its beginning is found once a week', async () => {
  const world = await openWorld(database, { context_every_days: 7 }, { maxInputTokens: 3_000 });
  world.drift = {
    ignores: (body) => {
      const [{ content = '' } = {}] = body['messages'] as { content?: string }[];
      return {
        ...body,
        messages: [{ role: 'user', content: typeof content === 'string' ? content.slice(-4_000) : content }],
      };
    },
  };
  expect(await probed(world)).toEqual(['context failed cut']);
  world.drift = {};
  world.advance(24);
  expect(await probed(world)).toEqual(['context failed cut']);
  world.advance(24 * 6);
  expect(await probed(world)).toEqual([]);
});

it('a model that was replaced, or names another maker, is flagged by its fingerprint and never tried last', async () => {
  const world = await openWorld(database, { on_drift: 'last' });
  world.drift = { changes: renamed('Anthropic') };
  expect(await probed(world)).toEqual([]);
  world.advance(24);
  world.drift = { changes: renamed('DeepSeek') };
  expect(await probed(world)).toEqual(['fingerprint failed other_maker']);
  world.advance(24);
  world.drift = { changes: replaced };
  expect(await probed(world)).toEqual(['fingerprint failed other_answers']);
  await getProbeState(world.host).read(world.host);
  expect(getDemotedRoutes(world.host).size).toBe(0);
  expect(probesCheck.check(world.host)).toMatchObject({ ok: false, reason: expect.stringContaining('(fingerprint)') });
});

const minute = 60_000;
async function incident(startedAt: number, endedAt: number | null, isSuspected = false): Promise<string> {
  const id = crypto.randomUUID();
  await database.query(
    `insert into incident (id, model, kind, cause, started_at, opened_at, checked_at, ended_at)
     values (?, 'dp/test', ?, ?, ?, ?, ?, ?)`,
    [
      id,
      ...(isSuspected ? ['degraded', 'last_failed'] : ['down', 'routes_out']),
      new Date(startedAt),
      isSuspected ? null : new Date(startedAt),
      new Date(endedAt ?? startedAt),
      endedAt && new Date(endedAt),
    ],
  );
  onTestFinished(async () => void (await database.query('delete from incident')));
  return id;
}

async function confirmedAt(id: string): Promise<number | undefined> {
  const [row] = await database.query<{ at: number | null }>(
    'select (extract(epoch from confirmed_at) * 1000)::float8 as at from incident where id = ?',
    [id],
  );
  return row?.at ?? undefined;
}

describe('a model that is down', () => {
  it('is tried once meanwhile, which confirms the incident when no route answers', async () => {
    const world = await openWorld(database);
    await probed(world);
    world.drift = { refuses: () => 500 };
    world.advance(1);
    const id = await incident(world.host.now() - minute, null);
    expect(await probed(world)).toEqual(['answers failed unreachable']);
    expect(await confirmedAt(id)).toBe(world.host.now());
    const asked = world.upstream.requests.length;
    await probed(world);
    expect(world.upstream.requests).toHaveLength(asked);
  });

  it('is confirmed as well where only a few failed requests had shown it', async () => {
    const world = await openWorld(database);
    world.drift = { refuses: () => 500 };
    const id = await incident(world.host.now() - minute, null, true);
    await probed(world);
    expect(await confirmedAt(id)).toBe(world.host.now());
  });

  it('is tried again when it is back, which takes no incident back', async () => {
    const world = await openWorld(database);
    world.drift = { refuses: () => 500 };
    const id = await incident(world.host.now() - minute, null);
    await probed(world);
    world.advance(1 / 6);
    await database.query('update incident set ended_at = ? where id = ?', [new Date(world.host.now() - minute), id]);
    world.drift = {};
    expect(await probed(world)).toEqual([]);
    expect(await confirmedAt(id)).toBeGreaterThan(0);
  });

  it.each([
    ['that answers a probe', {}],
    ['whose vendor asks for patience', { refuses: () => 429 }],
  ])('%s has no confirmed incident', async (_title, drift) => {
    const world = await openWorld(database);
    world.drift = drift;
    const id = await incident(world.host.now() - minute, null);
    await probed(world);
    expect(await confirmedAt(id)).toBeUndefined();
  });

  it('has no confirmed incident by a probe that failed before it began', async () => {
    const world = await openWorld(database, { daily_tokens: 1_000 });
    world.drift = { refuses: () => 500 };
    await probed(world);
    await database.query('update probes_result set tokens = 1000 where route = ?', [world.route.id]);
    world.advance(1 / 2);
    const id = await incident(world.host.now() - minute, null);
    await probed(world);
    expect(await confirmedAt(id)).toBeUndefined();
  });
});

it('a route that does not do what it declares is tried last where the operator wants that, until it does again', async () => {
  const world = await openWorld(database, { on_drift: 'last' });
  const { host, route } = world;
  world.drift = { ignores: without('tools') };
  await probed(world);
  await getProbeState(host).read(host);
  expect([...getDemotedRoutes(host)]).toEqual([route.id]);
  expect([...(await probeGauges[0]!.read(host))]).toEqual([{ value: 1, labels: { route: route.id } }]);
  world.drift = {};
  world.advance(24);
  await probed(world);
  await getProbeState(host).read(host);
  expect([...getDemotedRoutes(host)]).toEqual([]);
  expect(probesCheck.check(host)).toEqual({ ok: true });
});

it('failing probes leave breakers and keys as they are, and count no requests', async () => {
  const world = await openWorld(database);
  world.drift = { refuses: () => 500 };
  for (let hour = 0; hour < 8; hour++) {
    await probed(world);
    world.advance(1);
  }
  expect(world.upstream.requests.length).toBeGreaterThan(10);
  expect(readRouteStatuses(world.host)).toMatchObject([{ state: 'closed', keys_cooling_down: 0 }]);
  expect(await database.query('select 1 from request_log')).toEqual([]);
});

it('two instances together stay within the budget of an upstream, and do each check once', async () => {
  const world = await openWorld(database, { daily_tokens: 9_000 });
  const { host, trials, route } = world;
  await Promise.all([runDueProbes(host, trials), runDueProbes(host, trials)]);
  expect((await readSpending(database, host.now())).get(route.upstream.name)).toBeLessThanOrEqual(9_000);
  const twice = await database.query(
    'select check_name from probes_result where route = ? group by check_name having count(*) > 1',
    [route.id],
  );
  expect(twice).toEqual([]);
});

it('a route is tried once in the interval, and what could not be found out again after an hour', async () => {
  const world = await openWorld(database);
  await probed(world);
  const first = world.upstream.requests.length;
  world.advance(23);
  await probed(world);
  expect(world.upstream.requests).toHaveLength(first);
  world.advance(1);
  world.drift = { refuses: () => 429 };
  await probed(world);
  const refused = world.upstream.requests.length;
  expect(refused).toBeGreaterThan(first);
  world.drift = {};
  world.advance(1);
  await probed(world);
  expect(world.upstream.requests.length).toBeGreaterThan(refused + 10);
});

it('the tokens of an upstream stay within its budget, and what did not fit is made up for later', async () => {
  const world = await openWorld(database, { daily_tokens: 6_000 });
  const spent = async () => (await readSpending(database, world.host.now())).get(world.route.upstream.name) ?? 0;
  await probed(world);
  expect(await spent()).toBeLessThanOrEqual(6_000);
  expect(await readLastResults(database, [world.route.id])).not.toEqual([]);
  const done = new Set((await readLastResults(database, [world.route.id])).map(({ check }) => check));
  for (let day = 0; day < 4; day++) {
    world.advance(24);
    await probed(world);
    expect(await spent()).toBeLessThanOrEqual(6_000);
  }
  expect((await readLastResults(database, [world.route.id])).length).toBeGreaterThanOrEqual(done.size);
});

it('a check of a process that was killed counts with all of its tokens, and another process takes it up', async () => {
  const world = await openWorld(database);
  const { route, host } = world;
  await database.query(
    `insert into probes_result (id, route, upstream, check_name, started_at, state, tokens)
     values (gen_random_uuid(), ?, ?, 'answers', ?, 'running', 1234)`,
    [route.id, route.upstream.name, new Date(host.now())],
  );
  const checks = async () => {
    await runDueProbes(host, world.trials);
    return (await readLastResults(database, [route.id])).map(({ check }) => check);
  };
  expect(await checks()).toEqual([]);
  world.advance(1);
  expect(await checks()).toContain('answers');
  expect((await readSpending(database, host.now())).get(route.upstream.name)).toBeGreaterThan(1_234);
});

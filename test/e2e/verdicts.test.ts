import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { ModelState } from '#core/business/model-health/model-health.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { PageClient } from '../support/page-client.ts';

/** Models by how many requests to them fail, and of how many accounts. */
const cases = {
  'one-failed': { requests: 1, accounts: 1, verdict: 'degraded' },
  'three-of-one-account': { requests: 3, accounts: 1, verdict: 'degraded' },
  'three-of-two-accounts': { requests: 3, accounts: 2, verdict: 'down' },
  'ten-failed': { requests: 10, accounts: 1, verdict: 'down' },
  'hundred-failed': { requests: 100, accounts: 1, verdict: 'down' },
} as const;
const names = Object.keys(cases) as (keyof typeof cases)[];

/** Answers from the beginning to the end, so that a page that calls everything down is wrong too. */
const healthy = 'always-answered';
const operator = 'ops@example.com';
const minute = 60_000;
/** Readings are made again after seconds, and the job that watches models runs every 15. */
const patience = { timeout: 30_000, interval: 1_000 };

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let upstream: FaultyUpstream;
let gateway: TestGateway;
let client: PageClient;
let keys: string[];
let isFailing = true;
/** Ms by which the clock of the gateway is ahead. */
let ahead = 0;

beforeAll(async () => {
  const read = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => read() + ahead);
  upstream = await createUpstream(
    (request, response) => {
      const { model } = request.json<{ model: string }>();
      if (isFailing && model !== healthy) return response.json(503, { error: { message: 'overloaded' } });
      const message = { role: 'assistant', content: 'Hello' };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.json(200, { id: 'x', object: 'chat.completion', created: 1, model, choices, usage });
    },
    { keeps: false },
  );
  const models = [...names, healthy].map((name) => `  ${name}: { routes: [one/${name}] }`).join('\n');
  const yaml = `${wholePipeline}operators: [${operator}]
upstreams: { one: { format: [chat], base_url: "${upstream.url}" } }
models:
${models}
`;
  gateway = await startGateway({ yaml });
  const second = await createAccount(gateway.database, 'dp', { name: 'Second', period: { days: 1, reason: 'grant' } });
  keys = [gateway.key, second.key];
  client = new PageClient(gateway.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Ada', email: operator });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

async function call(model: string, key = keys[0]): Promise<number> {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: crypto.randomUUID() }] }),
  });
  await reply.text();
  return reply.status;
}

const states: Readonly<Record<string, ModelState>> = {
  Working: 'working',
  Degraded: 'degraded',
  Down: 'down',
  'No data': 'no_data',
};

function stateOf(text: string): ModelState | undefined {
  return text.startsWith('No traffic') ? 'unknown' : states[text.trim()];
}

/** The state beside the name of a model on a page, which its title has whole. */
function shownOn(html: string, name: string): ModelState | undefined {
  const rest = html.slice(html.indexOf(`title="dp/${name}"`));
  return stateOf(/class="status \w+">(?:<svg.*?<\/svg>)?([^<]*)</s.exec(rest)?.[1] ?? '');
}

/** What needs action says of a model; a model that is not there works. */
function neededOn(html: string, name: string): ModelState | undefined {
  const need = html.split('<li>').find((item) => item.includes(`<strong>dp/${name}</strong>`));
  if (need === undefined) return 'working';
  return stateOf(/class="status \w+">(?:<svg.*?<\/svg>)?([^<]*)</s.exec(need)?.[1] ?? '');
}

async function page(path: string): Promise<string> {
  return (await client.get(path)).text;
}

/** The verdict of every page, list and feed on one model. */
async function verdictsOn(name: string): Promise<Record<string, ModelState | undefined>> {
  const status = JSON.parse(await page('/status.json')) as { models: { id: string; status: ModelState }[] };
  const headers = { authorization: `Bearer ${keys[0]}` };
  const listed = await (await fetch(`${gateway.url}/v1/models`, { headers })).json();
  const { data } = listed as { data: { id: string; status: ModelState }[] };
  return {
    landing: shownOn(await page('/'), name),
    models: shownOn(await page('/dashboard/models'), name),
    status: shownOn(await page('/status'), name),
    operator: neededOn(await page('/operator'), name),
    'status.json': status.models.find(({ id }) => id === `dp/${name}`)?.status,
    '/v1/models': data.find(({ id }) => id === `dp/${name}`)?.status,
  };
}

function everywhere(state: ModelState): Record<string, ModelState> {
  const places = ['landing', 'models', 'status', 'operator', 'status.json', '/v1/models'];
  return Object.fromEntries(places.map((place) => [place, state]));
}

/** Waits until all pages say this of each model. */
async function expectVerdicts(wanted: (name: keyof typeof cases) => ModelState): Promise<void> {
  const expected = Object.fromEntries([
    ...names.map((name) => [name, everywhere(wanted(name))]),
    [healthy, everywhere('working')],
  ]);
  await vi.waitFor(async () => {
    const seen = await Promise.all([...names, healthy].map(async (name) => [name, await verdictsOn(name)]));
    expect(Object.fromEntries(seen)).toEqual(expected);
  }, patience);
}

/** Waits for the job that watches models to have remembered the failures of all of them. */
async function waitForMemory(): Promise<void> {
  await vi.waitFor(async () => {
    const rows = await gateway.database.query(
      'select 1 from incident where ended_at is null and failed_at is not null',
    );
    expect(rows).toHaveLength(names.length);
  }, patience);
}

async function headline(): Promise<string | undefined> {
  return /<h1>([^<]*)</.exec((await client.get('/status')).text)?.[1];
}

/** One outage, from its first failure to the proof that it is over. */
describe('every page says of a model that fails', () => {
  it('that it is down or degraded as soon as its requests are on record', async () => {
    expect(await call(healthy)).toBe(200);
    for (const name of names) {
      const { requests, accounts } = cases[name];
      for (let count = 0; count < requests; count++)
        expect(await call(name, keys[count % accounts])).toBeGreaterThanOrEqual(500);
    }
    await expectVerdicts((name) => cases[name].verdict);
    expect(await headline()).toBe('3 of 6 models are down, 2 degraded');
  });

  it('the same once breakers are half-open, and once five minutes have passed', async () => {
    await waitForMemory();
    await vi.waitFor(async () => {
      const { routes } = (await (await fetch(`${gateway.operatorUrl}/readyz?verbose`)).json()) as {
        routes: { state: string }[];
      };
      expect(routes.filter(({ state }) => state === 'half_open').length).toBeGreaterThanOrEqual(2);
    }, patience);
    await expectVerdicts((name) => cases[name].verdict);
    ahead = 5.5 * minute;
    await call(healthy);
    await expectVerdicts((name) => cases[name].verdict);
    expect(await headline()).toBe('3 of 6 models are down, 2 degraded');
  });

  it('that it had no traffic since, after a quarter of an hour without any', async () => {
    ahead = 20 * minute;
    await call(healthy);
    await expectVerdicts(() => 'unknown');
    expect(await headline()).toBe('5 of 6 models have had no traffic since they failed');
    // With its day where midnight was in between.
    expect((await client.get('/status')).text).toMatch(
      /No traffic since it failed (?:at|on \w{3} \d+ \w{3},) \d\d:\d\d/,
    );
  });

  it('that it works only after a response', async () => {
    isFailing = false;
    for (const name of names) expect(await call(name)).toBe(200);
    await expectVerdicts(() => 'working');
    expect(await headline()).toBe('All models work');
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { type EndedCommand, runCommand } from '../../../support/command-line.ts';
import { closedPort } from '../../../support/dead-ends.ts';
import { createUpstream, type FaultyUpstream } from '../../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../../support/gateway.ts';
import { answer } from '../fixture.ts';

// The gateway is in this process, and so are the commands: each waits for the other on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let broken: FaultyUpstream;
let busy: FaultyUpstream;
let sound: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  broken = await createUpstream((_request, response) => response.json(503, { error: { message: 'down' } }));
  busy = await createUpstream((_request, response) =>
    response.json(429, { error: { message: 'busy' } }, { 'retry-after': '600' }),
  );
  sound = await createUpstream((_request, response) => response.json(200, answer));
  gateway = await startGateway({
    // Left out for as long as the tests take, however slow the machine is.
    yaml: `${wholePipeline.replace('connect_timeout: 1 }', 'connect_timeout: 1, breaker: { cooldown: 300 } }')}
upstreams:
  broken: { format: chat, base_url: "${broken.url}/v1" }
  sound: { format: chat, base_url: "${sound.url}/v1" }
  busy: { format: chat, base_url: "${busy.url}/v1", api_keys: [a, b] }
models: { test: { routes: [broken/m, sound/m] }, throttled: { routes: [busy/m, sound/m] } }
`,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await broken[Symbol.asyncDispose]();
  await busy[Symbol.asyncDispose]();
  await sound[Symbol.asyncDispose]();
});

/** Each in a conversation of its own: after two failures in one, it asks another route first. */
const ask = (model = 'test') =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: crypto.randomUUID() }] }),
  });
const command = (...parameters: string[]): Promise<EndedCommand> =>
  runCommand(['--config', gateway.file, 'routes', ...parameters], { DATABASE_URL: gateway.database.url });
const verbose = async (url = gateway.operatorUrl) =>
  (await (await fetch(`${url}/readyz?verbose`)).json()) as {
    routes?: { route: string; state: string; keys_cooling_down: number }[];
  };
const coolingKeys = async () => (await verbose()).routes?.find(({ route }) => route === 'busy/m')?.keys_cooling_down;

describe('a dead route', () => {
  beforeEach(async () => {
    for (let request = 0; request < 5; request++) await ask();
  });

  it('a dead route is skipped after five failures, and costs nothing any more', async () => {
    const before = broken.requests.length;
    for (let request = 0; request < 20; request++) expect((await ask()).status).toBe(200);
    expect(broken.requests.length - before).toBe(0);
  });

  it('a dead route is shown at /readyz?verbose of the operator listener', async () => {
    expect((await verbose()).routes).toMatchObject([
      { route: 'broken/m', state: 'open', reason: expect.stringContaining('503') },
      { route: 'sound/m', state: 'closed', reason: null },
      { route: 'busy/m', state: 'closed', reason: null },
    ]);
  });

  it('a dead route is not shown by the public listener', async () => {
    expect(await verbose(gateway.url)).toEqual({ status: 'ok' });
  });

  it('a dead route is listed by daypass routes, and reset by --reset', async () => {
    expect((await command('--url', gateway.operatorUrl)).out).toMatch(
      /^route +breaker\nbroken\/m +open +until \S+: route: .*503.*\nsound\/m +closed\nbusy\/m +closed.*\n\nclosed: requests are sent/,
    );
    expect(await command('--reset', 'broken/m')).toEqual({ code: 0, out: 'route broken/m reset\n', errors: '' });
    await vi.waitFor(async () => expect((await verbose()).routes?.[0]?.state).toBe('closed'), { timeout: 30_000 });
  });

  it('a dead route is listed as JSON with all members, and reset by its action, on record', async () => {
    const { out } = await command('--url', gateway.operatorUrl, '--json');
    expect(JSON.parse(out)).toMatchObject([
      { route: 'broken/m', state: 'open', open_since: expect.any(String), keys_cooling_down: 0, keys_closed: 0 },
      { route: 'sound/m', state: 'closed', open_since: null, reason: null },
      { route: 'busy/m' },
    ]);
    expect(await command('reset', 'broken/m')).toEqual({ code: 0, out: 'route broken/m reset\n', errors: '' });
    await vi.waitFor(async () => expect((await verbose()).routes?.[0]?.state).toBe('closed'), { timeout: 30_000 });
    const [last] = await listActions(gateway.database, { subject: 'broken/m', limit: 1 });
    expect(last).toMatchObject({ action: 'route.reset', outcome: 'done', operator: expect.stringMatching(/^command/) });
  });

  it('a dead route is not listed when no gateway runs, and the reason is printed', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    expect(await command('--url', url)).toEqual({
      code: 1,
      out: '',
      errors: `No gateway responds at ${url}: connection refused.\n`,
    });
  });

  it('an unknown route cannot be reset, and the known ones are named', async () => {
    const { code, errors } = await command('--reset', 'nobody/m');
    expect([code, errors]).toEqual([1, expect.stringContaining('Routes: broken/m, sound/m, busy/m')]);
  });
});

describe('keys that cool down', () => {
  beforeEach(async () => {
    expect((await ask('throttled')).status).toBe(200);
  });

  it('keys that cool down are counted with their route', async () => {
    expect((await command('--url', gateway.operatorUrl)).out).toMatch(/^busy\/m +closed +2 keys cooling down$/m);
    expect(await coolingKeys()).toBe(2);
  });

  it('keys that cool down may be used again when an operator resets their route', async () => {
    await command('--reset', 'busy/m');
    await vi.waitFor(async () => expect(await coolingKeys()).toBe(0), { timeout: 30_000 });
  });
});

import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import { createLogger } from '#core/platform/logger.ts';
import type { Retention } from '../../plugins/log/partitions.ts';
import type { RequestLog } from '../../plugins/log/request-log.ts';
import type { RouteHealth } from '../../plugins/upstream/health/route-health.ts';
import { getKeyPool } from '../../plugins/upstream/routes.ts';
import type { RetryBudget } from '../../plugins/upstream/routing/allowance.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** A third-party plugin: one stage with an option that outlives it, one that can refuse the configuration. */
const plugin = `
const options = { type: 'object', additionalProperties: true };
const thermostat = {
  name: 'thermostat', description: 'Keeps a temperature.', options,
  create({ degrees }, host) {
    const room = host.keep('room', () => ({ degrees: 0 }));
    return { activate() { room.degrees = degrees; if (degrees === 99) throw new Error('too hot'); } };
  },
};
const fragile = {
  name: 'fragile', description: 'Refuses when told to.', options,
  create({ extra, fails }, host) {
    if (extra) host.keep('extra ' + extra, () => {
      const timer = setInterval(() => {}, 1000);
      return { [Symbol.dispose]: () => { clearInterval(timer); host.log.info('extra released'); } };
    });
    if (fails) throw new Error('fragile on purpose');
    return {};
  },
};
export const plugin = { name: 'rooms', register: ({ gateway }) => [thermostat, fragile].forEach((one) => gateway.stage(one)) };
`;

const stages = {
  auth: '{ cache_seconds: 60 }',
  plan: '{ grace: 1 }',
  'rate-limit': '{ limit: 1000, period: 1, burst: 1000, concurrent: 100 }',
  cache: '{ max_age: 100 }',
  format: '{}',
  upstream: '{ retry_share: 0.5, breaker: { failures: 7, cooldown: 9 } }',
  log: '{ keep_days: 7, max_journal_bytes: 20000000 }',
  thermostat: '{ degrees: 20 }',
  fragile: '{}',
};
const changed: typeof stages = {
  auth: '{ cache_seconds: 1 }',
  plan: '{ grace: 2 }',
  'rate-limit': '{ limit: 3, period: 2, burst: 3, concurrent: 3 }',
  cache: '{ max_age: 5 }',
  format: '{}',
  upstream: '{ retry_share: 0.1, breaker: { failures: 2, cooldown: 3 } }',
  log: '{ keep_days: 1, max_journal_bytes: 30000000, content: true }',
  thermostat: '{ degrees: 5 }',
  fragile: '{}',
};

/** Other values for the options of the stages. */
interface Other {
  readonly keys?: string;
  readonly upstream?: string;
}

function yamlOf(file: string, options: Readonly<Record<string, string>>, { keys = 'sk-1', upstream = '' }: Other = {}) {
  const list = Object.entries(options).map(([name, value]) => `  - ${name}: ${value}`);
  return `plugins: ["${file}"]
pipeline:
${list.join('\n')}
upstreams:
  one: { format: chat, base_url: "http://127.0.0.1:9/v1", api_keys: [${keys}] }
  ${upstream}
models: { test: { routes: [one/model-there] } }
`;
}

const lines: string[] = [];
let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-rooms-'));
  await writeFile(join(folder, 'rooms.mjs'), plugin);
  gateway = await startGateway({ yaml: yaml(stages), log: createLogger((line) => lines.push(line)) });
  getKeyPool(upstreamOne(), gateway.gateway.host);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await load(stages);
  lines.length = 0;
});

const yaml = (options: Readonly<Record<string, string>>, other?: Other) =>
  yamlOf(join(folder, 'rooms.mjs'), options, other);
const upstreamOne = () => gateway.gateway.host.catalog.upstreams[0] as Upstream;

const servers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;

type Resources = Readonly<Record<string, number>>;

/** How many of each kind this process holds: sockets, servers, timers, watchers; and its file descriptors. */
function openResources(): Resources {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const counts = [...kinds].map(([kind, list]) => [kind, list.length] as const);
  const descriptors = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
  return { ...Object.fromEntries(counts), descriptors };
}

/**
 * What may be added of a kind: an idle gateway has 2 to 12 timers from one moment to the next, and the test runner has some.
 * What fifty refusals leave behind is more.
 */
const noise = 20;

/** Kinds of which there are more than before. */
function added(before: Resources, now: Resources): Resources {
  return Object.fromEntries(Object.entries(now).filter(([kind, count]) => count > (before[kind] ?? 0) + noise));
}

async function load(options: Readonly<Record<string, string>>, other?: Other): Promise<boolean> {
  await gateway.write(yaml(options, other));
  return gateway.gateway.reload();
}

/** The options in force, as far as they are visible outside the stages. */
async function inForce() {
  const { host } = gateway.gateway;
  const kept = (key: string) => host.keep<object>(key, () => expect.fail(`${key} is not kept`)) as never;
  const { options } = kept('upstream/health') as RouteHealth;
  const { retriesPerRequest } = kept('upstream/retry-budget') as RetryBudget;
  const { journal } = kept('log/journal') as RequestLog;
  const { keepDays } = kept('log/retention') as Retention;
  const { degrees } = kept('room') as { degrees: number };
  const { headers } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return {
    breaker: { ...options },
    retriesPerRequest,
    maxBytes: journal.maxBytes,
    keepDays,
    degrees,
    limit: headers.get('x-ratelimit-limit-requests'),
    keys: getKeyPool(upstreamOne(), host).size,
  };
}

describe('a configuration that a later stage refuses', () => {
  it.each(Object.keys(stages))('leaves every option of %s as it was', async (name) => {
    const before = await inForce();
    const { host } = gateway.gateway;
    const options = { ...stages, [name]: changed[name as keyof typeof stages], fragile: '{ fails: true }' };
    await expect(load(options, { keys: 'sk-2, sk-3' })).rejects.toThrow('fragile');
    expect(await inForce()).toEqual(before);
    expect(gateway.gateway.host).toBe(host);
  });

  it('releases what it has opened', async () => {
    await expect(load({ ...stages, fragile: '{ extra: true, fails: true }' })).rejects.toThrow('fragile');
    expect(lines.join('')).toContain('extra released');
  });

  it('leaves no descriptor and no timer behind, fifty times', async () => {
    const other = { upstream: 'two: { vendor: demo }' };
    const refuse = async (extra: number) => {
      const fragile = `{ extra: ${extra}, fails: true }`;
      await expect(load({ ...changed, fragile }, other)).rejects.toThrow('fragile');
    };
    // The first one opens what is kept, such as connections of the pool.
    await refuse(51);
    const before = openResources();
    const intervals = vi.spyOn(globalThis, 'setInterval');
    const cleared = vi.spyOn(globalThis, 'clearInterval');
    try {
      for (let count = 1; count <= 50; count++) await refuse(count);
      const ended = new Set(cleared.mock.calls.map(([interval]) => interval));
      const left = intervals.mock.results.filter(({ value }) => !ended.has(value));
      expect(left.length).toBeLessThanOrEqual(noise);
    } finally {
      intervals.mockRestore();
      cleared.mockRestore();
    }
    await vi.waitFor(() => expect(added(before, openResources())).toEqual({}), { timeout: 15_000, interval: 100 });
  });

  it('stops the vendor server it has started', async () => {
    const before = servers();
    const other = { upstream: 'two: { vendor: demo }' };
    await expect(load({ ...stages, fragile: '{ fails: true }' }, other)).rejects.toThrow('fragile');
    await expect.poll(servers).toBe(before);
  });
});

describe('a configuration that every stage accepts', () => {
  it('takes effect at once, outside the stages too', async () => {
    const before = await inForce();
    expect(await load(changed, { keys: 'sk-2, sk-3' })).toBe(true);
    const after = await inForce();
    expect(after).toEqual({
      breaker: { ...before.breaker, failures: 2, cooldown: 3_000 },
      retriesPerRequest: 0.1,
      maxBytes: 30_000_000,
      keepDays: 1,
      degrees: 5,
      limit: '3',
      keys: 2,
    });
  });

  it('serves even if a stage fails to activate, and the log names that stage', async () => {
    expect(await load({ ...stages, thermostat: '{ degrees: 99 }', log: changed.log })).toBe(true);
    expect(await inForce()).toMatchObject({ degrees: 99, keepDays: 1 });
    expect(lines.join('')).toContain('stage "thermostat" failed in activate');
  });
});

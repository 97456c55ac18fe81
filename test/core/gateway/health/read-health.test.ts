import { describe, expect, it } from 'vitest';
import type { HealthCheck } from '#core/gateway/health/health-check.ts';
import { HealthMonitor } from '#core/gateway/health/health-monitor.ts';
import { readHealth } from '#core/gateway/health/read-health.ts';
import type { Host } from '#core/gateway/host/host.ts';

/** A host whose database and clock are in the hands of the test. */
function createHost() {
  const kept = new Map<string, object>();
  const state = { now: 1_000, isDatabaseUp: true, lines: [] as string[] };
  const ping = async () => {
    if (!state.isDatabaseUp) throw new Error('connect ECONNREFUSED 127.0.0.1:5432');
  };
  const write = (line: string) => void state.lines.push(line);
  const shared = {
    kind: 'memory',
    ping: async () => {},
    events: { publish: async () => {}, subscribe: async () => () => {} },
  };
  const host = {
    instance: 'one',
    log: { info: write, warn: write, error: write },
    database: { kind: 'external', ping },
    shared,
    now: () => state.now,
    keep: (key: string, create: () => object) => {
      const value = kept.get(key) ?? create();
      kept.set(key, value);
      return value;
    },
  } as unknown as Host;
  return { state, host };
}

const disk: { verdict: ReturnType<HealthCheck['check']> } = { verdict: { ok: true } };
const check: HealthCheck = { name: 'disk', check: () => disk.verdict };
const registryOf = (...checks: HealthCheck[]) => ({ healthChecks: new Map(checks.map((one) => [one.name, one])) });

describe('reading the health checks', () => {
  it('lists dependencies and registered checks', async () => {
    const { host } = createHost();
    const passes: HealthCheck = { name: 'jobs', check: () => ({ ok: true }) };
    expect(await readHealth(registryOf(passes), host)).toEqual([
      { name: 'database', kind: 'external', ok: true },
      { name: 'shared state', kind: 'memory', ok: true },
      { name: 'jobs', ok: true },
    ]);
  });

  it('keeps the time at which a dependency was first found unavailable', async () => {
    const { state, host } = createHost();
    const sinceOf = async () =>
      (await readHealth(registryOf(), host)).map((one) => (one.ok ? undefined : one.since))[0];
    state.isDatabaseUp = false;
    expect(await sinceOf()).toBe(1_000);
    state.now = 9_000;
    expect(await sinceOf()).toBe(1_000);
    state.isDatabaseUp = true;
    expect(await sinceOf()).toBeUndefined();
    state.isDatabaseUp = false;
    expect(await sinceOf()).toBe(9_000);
  });

  it('reports a check that throws as failing', async () => {
    const { host } = createHost();
    const broken: HealthCheck = {
      name: 'broken',
      check() {
        throw new Error('no such part');
      },
    };
    const [, , found] = await readHealth(registryOf(broken), host);
    expect(found).toEqual({ name: 'broken', ok: false, reason: 'The check failed: no such part', since: 1_000 });
  });
});

describe('the monitor of health checks', () => {
  it('logs and reports a failing check once, and once when it passes again', async () => {
    const { state, host } = createHost();
    const changes: string[] = [];
    using monitor = new HealthMonitor(
      registryOf(check),
      () => host,
      () => changes.push('health'),
    );
    disk.verdict = { ok: false, reason: 'the disk is full. Free some space.', since: 1 };
    await monitor.checkNow();
    await monitor.checkNow();
    expect(state.lines).toEqual(['health check "disk" fails: the disk is full. Free some space.']);
    disk.verdict = { ok: true };
    await monitor.checkNow();
    await monitor.checkNow();
    expect(state.lines.slice(1)).toEqual(['health check "disk" passes again']);
    expect(changes).toEqual(['health', 'health']);
  });

  it('logs a database that is unavailable when it begins', async () => {
    const { state, host } = createHost();
    state.isDatabaseUp = false;
    using monitor = new HealthMonitor(
      registryOf(),
      () => host,
      () => {},
    );
    await monitor.checkNow();
    expect(state.lines).toEqual([
      'health check "database" fails: PostgreSQL is unavailable (connection refused): known keys are served, and records wait on disk. Start it, or correct DATABASE_URL.',
    ]);
  });
});

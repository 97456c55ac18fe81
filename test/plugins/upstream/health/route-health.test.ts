import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import type { Admission } from '../../../../plugins/upstream/health/breaker.ts';
import { RouteHealth } from '../../../../plugins/upstream/health/route-health.ts';
import { refused, routeTo, upstreamAt } from '../fixture.ts';

const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));
const begin = Date.parse('2026-01-01T00:00:00Z');

let now: number;
/** Ms by which the wall clock was set. */
let step: number;
let lines: string[];
let health: RouteHealth;
beforeEach(() => {
  now = begin;
  step = 0;
  lines = [];
  const add = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  health = new RouteHealth({
    instance: 'test',
    shared: new MemoryShared(),
    log: { info: add('info'), warn: add('warn'), error: add('error') },
    now: () => now + step,
    monotonic: () => now,
  });
  Object.assign(health.options, { failures: 2, cooldown: 5_000 });
});
afterEach(() => health[Symbol.asyncDispose]());

const admission: Admission = { isProbe: false };
const fail = (reason: string, by = admission) => health.recordFailure(route, by, refused(reason));

/** An answer of 60 tokens. @param took ms until its first content, and as long again to its end */
const serve = (took: number, account: string, by = admission, conversation = account) =>
  health.recordSuccess(
    route,
    by,
    { firstContentMs: took, durationMs: took * 2, tokens: 60 },
    { account, conversation },
  );
const state = () => health.getStatuses([route])[0]?.state;

/** Two failures leave the route out, and its pause goes by. @returns the probe's pass */
async function untilProbe(): Promise<Admission> {
  fail('route: 503');
  fail('route: 503');
  now += 5_000;
  return (await health.admit(route)) as Admission;
}

describe('a shared store that is down at first', () => {
  it('is retried, so that reports of other instances arrive as soon as it is up', async () => {
    const shared = new MemoryShared();
    vi.spyOn(shared.events, 'subscribe').mockRejectedValueOnce(new SharedUnavailable('away'));
    const log = { info: () => undefined, warn: (line: string) => void lines.push(line), error: () => undefined };
    await using late = new RouteHealth({ instance: 'late', shared, log, now: () => now, monotonic: () => now });
    await using other = new RouteHealth({ instance: 'other', shared, log, now: () => now, monotonic: () => now });
    await vi.waitFor(() => expect(shared.events.subscribe).toHaveBeenCalledTimes(3), { timeout: 20_000 });
    Object.assign(other.options, { failures: 1, cooldown: 5_000 });
    other.recordFailure(route, admission, refused('route: 503'));
    await vi.waitFor(() => expect(late.admit(route)).toBeUndefined(), { timeout: 20_000 });
    expect(lines).toContain('cannot receive route states of other instances; retrying: away');
  });

  it('is not retried once the gateway stops', async () => {
    const shared = new MemoryShared();
    vi.spyOn(shared.events, 'subscribe').mockRejectedValue(new SharedUnavailable('away'));
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const late = new RouteHealth({ instance: 'late', shared, log, now: () => now, monotonic: () => now });
    await late[Symbol.asyncDispose]();
    expect(shared.events.subscribe).toHaveBeenCalledTimes(1);
  });
});

describe('a route that has become slow', () => {
  beforeEach(() => {
    for (let answer = 0; answer < 20; answer++) serve(100, 'anybody');
  });

  it('keeps its breaker closed for one account, whose prompts may be long', () => {
    for (let answer = 0; answer < 10; answer++) serve(9_000, 'account', admission, `conversation ${answer}`);
    expect(state()).toBe('closed');
  });

  it('opens its breaker when it is slow for several', () => {
    for (const source of ['a', 'b']) serve(9_000, source);
    expect(state()).toBe('open');
  });

  describe('and whose breaker opened for it', () => {
    let probe: Admission;
    beforeEach(async () => {
      for (const source of ['a', 'b']) serve(9_000, source);
      now += 5_000;
      probe = (await health.admit(route)) as Admission;
      health.noteContent(route, probe);
    });

    it('stays open at the first content of its probe', () => {
      expect(state()).toBe('half_open');
    });

    it('stays open for longer when its probe is slow', () => {
      serve(9_000, 'c', probe);
      expect(lines.at(-1)).toBe(
        'warn route one/model-there: probe failed, breaker stays open for 10 s: slow: first content after 9.0 s',
      );
    });

    it('closes when its probe is as fast as usual', () => {
      serve(100, 'c', probe);
      expect(state()).toBe('closed');
    });

    it('must reach its usual throughput even when it has failed otherwise since', async () => {
      fail('route: 503', probe);
      now += 10_000;
      health.noteContent(route, (await health.admit(route)) as Admission);
      expect(state()).toBe('half_open');
    });

    it('needs no throughput once it was closed', async () => {
      serve(100, 'c', probe);
      health.noteContent(route, await untilProbe());
      expect(state()).toBe('closed');
    });
  });
});

describe('a wall clock that is set back by a day', () => {
  it('does not keep a breaker open for longer than its cooldown', async () => {
    fail('route: 503');
    fail('route: 503');
    step = -86_400_000;
    expect(health.msUntilAdmission([route])).toBe(5_000);
    now += 5_000;
    expect(await health.admit(route)).toMatchObject({ isProbe: true });
  });

  it('does not keep a route without the model behind the others for longer', () => {
    health.recordMissingModel(route, admission, 'no_model: 404');
    step = -86_400_000;
    now += 60_000;
    expect(health.isAvailable(route)).toBe(true);
  });

  it('shows when the breaker lets a request in by the clock as it is now', () => {
    fail('route: 503');
    fail('route: 503');
    step = -86_400_000;
    expect(health.getStatuses([route])[0]?.open_until).toBe(new Date(begin - 86_400_000 + 5_000).toISOString());
  });
});

describe('the log', () => {
  it('has one line when a breaker opens, with duration and reason', () => {
    fail('route: 500');
    fail('route: 503 down');
    fail('route: 503 sent before that was known');
    expect(lines).toEqual(['warn route one/model-there: breaker opened for 5 s: route: 503 down']);
  });

  it('has a line when the probe has failed, with the longer cooldown', async () => {
    fail('route: no connection', await untilProbe());
    expect(lines.slice(1)).toEqual([
      'warn route one/model-there: probe failed, breaker stays open for 10 s: route: no connection',
    ]);
  });

  it('has one line when the probe has closed the breaker', async () => {
    const probe = await untilProbe();
    health.noteContent(route, probe);
    serve(10, 'conversation', probe);
    expect(lines.slice(1)).toEqual(['info route one/model-there: breaker closed: the route responds again']);
  });

  it('starts with the shortest cooldown after that', async () => {
    health.noteContent(route, await untilProbe());
    fail('route: 500');
    fail('route: 500');
    expect(lines.at(-1)).toBe('warn route one/model-there: breaker opened for 5 s: route: 500');
  });

  it('has a line when an operator resets a route', async () => {
    await untilProbe();
    health.reset(route.id);
    expect(lines.slice(1)).toEqual(['info route one/model-there: breaker closed: reset by an operator']);
  });

  it('has one line, whatever the upstream sent', () => {
    fail('route: 503');
    fail('route: 503 <html>\n  <h1>Down</h1>\r\n</html>');
    expect(lines).toEqual([
      'warn route one/model-there: breaker opened for 5 s: route: 503 <html> <h1>Down</h1> </html>',
    ]);
  });
});

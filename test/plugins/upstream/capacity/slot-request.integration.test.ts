import { describe, expect, it, onTestFinished } from 'vitest';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import { delivery, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { ClientGone } from '#core/platform/errors/table.ts';
import { createLogger } from '#core/platform/logger.ts';
import { type QueueOptions, SlotPools } from '../../../../plugins/upstream/capacity/slot-pools.ts';
import { SlotRequest } from '../../../../plugins/upstream/capacity/slot-request.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  answer,
  attemptsOf,
  createRelayFixture,
  exchangeFor,
  refusalOf,
  refuse,
  routeTo,
  serve,
  textOf,
  upstreamAt,
} from '../fixture.ts';

const one = { concurrent: 1, requests: Infinity, period: 60_000 };

/** Relays over one upstream with a slot, and a backup without a bound if there is one. */
function openQueue({ url }: FaultyUpstream, options: Partial<QueueOptions> = {}, backup?: FaultyUpstream) {
  const limited = upstreamAt(url, { name: 'limited', capacity: one });
  const all: Upstream[] = [limited, ...(backup === undefined ? [] : [upstreamAt(backup.url, { name: 'backup' })])];
  const pools = new SlotPools({
    log: createLogger(() => undefined),
    store: undefined,
    monotonic: () => performance.now(),
  });
  onTestFinished(() => pools[Symbol.asyncDispose]());
  const queue = { wait: 10, per_account: 10, total: 100, prefer_backup: false, ...options };
  pools.configure({ upstreams: all } as never, queue);
  const parts = { pools, options: queue, SlotRequest: SlotRequest, header: 'x-daypass-queue', now: () => Date.now() };
  const fixture = createRelayFixture({}, undefined, undefined, undefined, parts);
  const routes = all.map((upstream) => routeTo(upstream));
  const pool = pools.find(limited);
  const states = () => [...(pool?.places ?? [])].map(({ state }) => state);
  return {
    exchange(account: string): Exchange {
      const exchange = exchangeFor(routes);
      const caller = { accountId: account, keyId: account, keyHint: '', limits: undefined, requestCount: 0 };
      exchange.set(principal, caller);
      return exchange;
    },
    relay: (exchange: Exchange) => fixture.relay(exchange),
    states,
    /** Resolves when so many requests wait. */
    async untilWaiting(count: number): Promise<void> {
      while (states().filter((state) => state === 'waiting').length !== count)
        await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Answers each request when it is told to, in their order. */
function gated(): { readonly handler: Handler; next(): void } {
  const gates: (() => void)[] = [];
  let open = 0;
  return {
    handler: async (_request, response) => {
      if (open > 0) open--;
      else await new Promise<void>((resolve) => gates.push(resolve));
      response.json(200, answer);
    },
    next() {
      const gate = gates.shift();
      if (gate === undefined) open++;
      else gate();
    },
  };
}

describe('a request for an upstream whose slots are in use', () => {
  it('waits, is served, and says how long it waited', async () => {
    const gate = gated();
    await using upstream = await createUpstream(gate.handler);
    const queue = openQueue(upstream);
    const first = queue.relay(queue.exchange('a'));
    const exchange = queue.exchange('b');
    const second = queue.relay(exchange);
    await queue.untilWaiting(1);
    await upstream.waitForRequest(1);
    expect(upstream.requests).toHaveLength(1);
    gate.next();
    gate.next();
    expect((await first).headers).not.toHaveProperty('x-daypass-queue');
    expect((await second).headers?.['x-daypass-queue']).toMatch(/^waited=\d+\.\d$/);
    expect(exchange.get(delivery).queuedFor).toBeGreaterThan(0);
    expect(queue.states()).toEqual([]);
  });

  it('is refused with the wait that is expected when its time is over', async () => {
    const gate = gated();
    await using upstream = await createUpstream(gate.handler);
    const queue = openQueue(upstream, { wait: 0.1 });
    const first = queue.relay(queue.exchange('a'));
    const { code, details, message } = await refusalOf(queue.relay(queue.exchange('b')));
    expect([code, details.retryAfter]).toEqual(['rate_limited', 1]);
    expect(message).toContain('none became free within 0.1 s');
    expect(details.headers?.['x-daypass-queue']).toMatch(/^position=1, expected=1\.0, waited=0\.\d$/);
    gate.next();
    await first;
    expect(queue.states()).toEqual([]);
  });

  it('is refused at once where its account has as many that wait as it may', async () => {
    const gate = gated();
    await using upstream = await createUpstream(gate.handler);
    const queue = openQueue(upstream, { per_account: 1 });
    const running = [queue.relay(queue.exchange('a')), queue.relay(queue.exchange('a'))];
    await queue.untilWaiting(1);
    const { code, message } = await refusalOf(queue.relay(queue.exchange('a')));
    expect([code, message]).toEqual(['rate_limited', expect.stringContaining('at most 1')]);
    const other = queue.relay(queue.exchange('b'));
    for (let count = 0; count < 3; count++) gate.next();
    for (const reply of await Promise.all([...running, other])) expect(await textOf(reply)).toContain('hi');
  });

  it('gives up its place as soon as its client leaves', async () => {
    const gate = gated();
    await using upstream = await createUpstream(gate.handler);
    const queue = openQueue(upstream);
    const first = queue.relay(queue.exchange('a'));
    const leaving = queue.exchange('b');
    const left = queue.relay(leaving).catch((error: unknown) => error);
    await queue.untilWaiting(1);
    leaving.abort(new ClientGone());
    expect(await left).toBeInstanceOf(ClientGone);
    expect(queue.states()).toEqual(['running']);
    gate.next();
    await first;
    expect(attemptsOf(leaving)).toEqual([]);
  });

  it('goes to a backup with room when its time is over', async () => {
    const gate = gated();
    await using upstream = await createUpstream(gate.handler);
    await using backup = await createUpstream(serve);
    const queue = openQueue(upstream, { wait: 0.1 }, backup);
    const first = queue.relay(queue.exchange('a'));
    const exchange = queue.exchange('b');
    await queue.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['backup/model-there served 200']);
    expect(exchange.get(delivery).queuedFor).toBeGreaterThanOrEqual(95);
    gate.next();
    await first;
  });

  it('goes to a backup with room at once where the operator prefers that', async () => {
    const gate = gated();
    await using upstream = await createUpstream(gate.handler);
    await using backup = await createUpstream(serve);
    const queue = openQueue(upstream, { prefer_backup: true }, backup);
    const first = queue.relay(queue.exchange('a'));
    const exchange = queue.exchange('b');
    await queue.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['backup/model-there served 200']);
    expect(exchange.get(delivery).queuedFor).toBeUndefined();
    gate.next();
    await first;
  });

  it('gets the slot of one that failed', async () => {
    await using upstream = await createUpstream([refuse(500), serve]);
    const queue = openQueue(upstream);
    const [failed, served] = [queue.relay(queue.exchange('a')), queue.relay(queue.exchange('b'))];
    expect((await refusalOf(failed)).code).toBe('upstream_failed');
    expect((await served).status).toBe(200);
    expect(queue.states()).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../../../support/faulty-upstream.ts';
import { exchangeFor, routeTo, serve, upstreamAt, useRelay } from '../fixture.ts';

const minute = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
const fixture = useRelay();
afterEach(() => {
  vi.useRealTimers();
});

const connectionsOf = ({ requests }: FaultyUpstream) => requests.map(({ connection }) => connection);
const pass = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

describe('a connection in steady use', () => {
  it('a connection in steady use takes no further request once it is a minute old', async () => {
    await using upstream = await createUpstream(serve);
    const ask = async () => {
      await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))]));
      await new Promise(setImmediate); // The connection goes back to its pool after the answer.
    };
    await ask();
    for (let count = 0; count < 8; count++) {
      pass(minute / 8 - 1);
      await ask();
    }
    pass(10);
    await ask();
    await ask();
    expect(connectionsOf(upstream)).toEqual([...Array(9).fill(1), 2, 2]);
  });

  it('a connection in steady use takes no request after a pause in which the upstream may have closed it, also before a timer has looked', async () => {
    await using upstream = await createUpstream(serve);
    const ask = async () => {
      await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))]));
      await new Promise(setImmediate);
    };
    await ask();
    pass(10_000);
    await ask();
    expect(connectionsOf(upstream)).toEqual([1, 2]);
  });

  it('a connection in steady use finishes the request that it has when it becomes too old', async () => {
    const end = Promise.withResolvers<void>();
    await using upstream = await createUpstream(async (request, response) => {
      if (upstream.requests.length === 1) await end.promise;
      await serve(request, response);
    });
    const ask = () => fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))]));
    const running = ask();
    await upstream.waitForRequest(1);
    pass(2 * minute);
    expect((await ask()).status).toBe(200);
    end.resolve();
    expect((await running).status).toBe(200);
    expect(await upstream.waitForClose(1)).toBe('answered');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { createTcpProxy } from '../../../support/tcp-proxy.ts';
import { createTlsUpstream, trustTestCertificate } from '../../../support/tls-upstream.ts';
import { answer, attemptsOf, exchangeFor, refusalOf, routeTo, serve, upstreamAt, useRelay } from '../fixture.ts';

const fixture = useRelay({ firstByteTimeout: 0.5 });

/** An upstream behind a proxy, and so many open connections to it. */
async function warm(connections: number) {
  await using resources = new AsyncDisposableStack();
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  const together: Handler = async (request, response) => {
    if (++waiting === connections) all.resolve();
    await all.promise;
    await serve(request, response);
  };
  const upstream = resources.use(await createUpstream(together));
  const proxy = resources.use(await createTcpProxy({ host: '127.0.0.1', port: Number(new URL(upstream.url).port) }));
  const route = routeTo(upstreamAt(`http://127.0.0.1:${proxy.port}`));
  await Promise.all(Array.from({ length: connections }, () => fixture.relay(exchangeFor([route]))));
  await new Promise(setImmediate); // The connections go back to their pool after the answers.
  const owned = resources.move();
  return { upstream, proxy, route, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const connectionsOf = ({ requests }: FaultyUpstream) => new Set(requests.map(({ connection }) => connection)).size;

describe('open connections that have gone silent', () => {
  it('lose no request, although there is no other route', async () => {
    await using there = await warm(4);
    there.proxy.freeze();
    const exchanges = Array.from({ length: 4 }, () => exchangeFor([there.route]));
    const replies = await Promise.all(exchanges.map((exchange) => fixture.relay(exchange)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(exchanges.map(attemptsOf)).toEqual(
      Array.from({ length: 4 }, () => ['one/model-there failed', 'one/model-there served 200']),
    );
  });

  it('delay the request that finds out, and no further one', async () => {
    await using there = await warm(4);
    there.proxy.freeze();
    await fixture.relay(exchangeFor([there.route]));
    const later: Exchange[] = Array.from({ length: 4 }, () => exchangeFor([there.route]));
    await Promise.all(later.map((exchange) => fixture.relay(exchange)));
    expect(later.map(attemptsOf)).toEqual(Array.from({ length: 4 }, () => ['one/model-there served 200']));
  });

  it('are replaced although the request may not be repeated', async () => {
    fixture.reopen({ firstByteTimeout: 0.5, maxAttempts: 1 });
    await using there = await warm(2);
    there.proxy.freeze();
    expect((await refusalOf(fixture.relay(exchangeFor([there.route])))).code).toBe('upstream_timeout');
    expect((await fixture.relay(exchangeFor([there.route]))).status).toBe(200);
    expect(connectionsOf(there.upstream)).toBe(3);
  });

  it('leave a request to the next route, where there is one', async () => {
    await using there = await warm(1);
    await using backup = await createUpstream(serve);
    there.proxy.freeze();
    const exchange = exchangeFor([there.route, routeTo(upstreamAt(backup.url, { name: 'two' }))]);
    await fixture.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'two/model-there served 200']);
  });

  it('do not count against the route', async () => {
    await using there = await warm(1);
    there.proxy.freeze();
    await fixture.relay(exchangeFor([there.route]));
    expect(fixture.health.isHealthy(there.route)).toBe(true);
  });

  it('differ from an upstream that does not answer on a new connection, which counts as a failure', async () => {
    await using upstream = await createUpstream(() => undefined);
    const route = routeTo(upstreamAt(upstream.url));
    await refusalOf(fixture.relay(exchangeFor([route])));
    expect(upstream.requests).toHaveLength(1);
    expect(fixture.health.isHealthy(route)).toBe(false);
  });
});

describe('an upstream on TLS', () => {
  let undo: () => void;
  beforeEach(() => {
    undo = trustTestCertificate();
  });
  afterEach(() => undo());

  it('is called over HTTP/1.1, even if it prefers HTTP/2', async () => {
    await using upstream = await createTlsUpstream(() => answer);
    await fixture.relay(exchangeFor([routeTo(upstreamAt(`https://localhost:${upstream.port}`))]));
    expect(upstream.requests).toEqual([{ httpVersion: '1.1', connection: 1 }]);
  });

  it('has its reset of a new connection counted, although the handshake had brought bytes', async () => {
    await using upstream = await createTlsUpstream((request) => (request === 1 ? undefined : answer));
    const exchange = exchangeFor([routeTo(upstreamAt(`https://localhost:${upstream.port}`))]);
    await refusalOf(fixture.relay(exchange));
    expect(upstream.requests).toHaveLength(1);
  });
});

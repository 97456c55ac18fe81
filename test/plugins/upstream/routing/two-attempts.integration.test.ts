import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { ClientGone } from '#core/platform/errors/table.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { createTcpProxy } from '../../../support/tcp-proxy.ts';
import { createTlsUpstream, trustTestCertificate } from '../../../support/tls-upstream.ts';
import {
  answer,
  attemptsOf,
  breakingOff,
  content,
  exchangeFor,
  finish,
  refusalOf,
  routesTo,
  serve,
  textOf,
  useRelay,
} from '../fixture.ts';

/** Attempts of one origin that wait for their connection before another one asks the next route as well. */
const scouts = 10;

const fixture = useRelay({ connectTimeout: 30 });
let restoreTrust: () => void;
beforeAll(() => {
  restoreTrust = trustTestCertificate();
});
afterAll(() => restoreTrust());

/** What the record will say: the route that served, and the attempts. */
const recordOf = (exchange: Exchange) => [exchange.get(delivery).servedBy, ...attemptsOf(exchange)];

/** An upstream whose connections open once told so, and a queue of requests that wait for theirs. */
async function createDoubtfulUpstream() {
  await using resources = new AsyncDisposableStack();
  const upstream = resources.use(await createTlsUpstream(() => answer));
  const proxy = resources.use(await createTcpProxy({ host: '127.0.0.1', port: upstream.port }));
  proxy.turn('stall');
  const [route] = routesTo(`https://localhost:${proxy.port}`);
  const queue = Array.from({ length: scouts }, () =>
    fixture.relay(exchangeFor(route === undefined ? [] : [route])).catch(() => undefined),
  );
  const owned = resources.move();
  return {
    url: `https://localhost:${proxy.port}`,
    open: () => proxy.turn('open'),
    async [Symbol.asyncDispose]() {
      proxy.turn('open');
      await Promise.all(queue);
      await owned.disposeAsync();
    },
  };
}

describe('of two attempts, because the connection of the first is doubtful,', () => {
  it('the second serves', async () => {
    await using first = await createDoubtfulUpstream();
    await using backup = await createUpstream(serve);
    const exchange = exchangeFor(routesTo(first.url, backup.url));
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(recordOf(exchange)).toEqual(['u1/model-there', 'u0/model-there aborted', 'u1/model-there served 200']);
  });

  it('the first serves after all', async () => {
    await using first = await createDoubtfulUpstream();
    await using backup = await createUpstream(() => first.open());
    const exchange = exchangeFor(routesTo(first.url, backup.url));
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(await backup.waitForClose(1)).toBe('client left');
    expect(recordOf(exchange)).toEqual(['u0/model-there', 'u0/model-there served 200', 'u1/model-there aborted']);
  });
});

describe('of two attempts at the same time', () => {
  it('none serves when the client leaves', async () => {
    await using first = await createUpstream(() => undefined);
    await using backup = await createUpstream(() => undefined);
    const exchange = exchangeFor(routesTo(first.url, backup.url), { hedgeAfter: 0.1 });
    const relayed = fixture.relay(exchange);
    await Promise.all([first.waitForRequest(1), backup.waitForRequest(1)]);
    const gone = new ClientGone();
    exchange.abort(gone);
    await expect(relayed).rejects.toBe(gone);
    expect(recordOf(exchange)).toEqual([undefined, 'u0/model-there aborted', 'u1/model-there aborted']);
  });

  it('the one whose stream the client was reading has served when the client leaves', async () => {
    await using first = await createUpstream(() => undefined);
    await using backup = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor(routesTo(first.url, backup.url), { isStream: true, hedgeAfter: 0.1 });
    const text = textOf(await fixture.relay(exchange)).catch(() => undefined);
    exchange.abort(new ClientGone());
    await text;
    expect(recordOf(exchange)).toEqual(['u1/model-there', 'u0/model-there aborted', 'u1/model-there aborted 200']);
  });

  it('the one whose stream breaks off has served it until then', async () => {
    const asked = Promise.withResolvers<void>();
    await using first = await createUpstream(async (request, response) => {
      await asked.promise;
      await breakingOff('It was ', fixture)(request, response);
    });
    await using backup = await createUpstream(() => asked.resolve());
    const exchange = exchangeFor(routesTo(first.url, backup.url), { isStream: true, hedgeAfter: 0.1 });
    await refusalOf(textOf(await fixture.relay(exchange)));
    expect(recordOf(exchange)).toEqual(['u0/model-there', 'u0/model-there failed 200', 'u1/model-there aborted']);
  });

  it('the one that began an answer is followed by the route that ended it', async () => {
    await using first = await createUpstream(() => undefined);
    await using backup = await createUpstream(breakingOff('It was ', fixture));
    await using spare = await createUpstream(endAnswer);
    const routes = routesTo(first.url, backup.url, spare.url);
    const exchange = exchangeFor(routes, { isStream: true, resume: true, hedgeAfter: 0.1 });
    await textOf(await fixture.relay(exchange));
    expect(recordOf(exchange)).toEqual([
      'u2/model-there',
      'u0/model-there aborted',
      'u1/model-there failed 200',
      'u2/model-there served 200',
    ]);
  });

  it('the slower one continues the answer of the other, when it breaks off', async () => {
    const asked = Promise.withResolvers<void>();
    await using first = await createUpstream(async (request, response) => {
      await asked.promise;
      await breakingOff('It was ', fixture)(request, response);
    });
    await using backup = await createUpstream([() => asked.resolve(), endAnswer]);
    const routes = routesTo(first.url, backup.url);
    const exchange = exchangeFor(routes, { isStream: true, resume: true, hedgeAfter: 0.1 });
    expect(await textOf(await fixture.relay(exchange))).toContain('night.');
    expect(recordOf(exchange)).toEqual([
      'u1/model-there',
      'u0/model-there failed 200',
      'u1/model-there aborted',
      'u1/model-there served 200',
    ]);
  });
});

const endAnswer: Handler = (_request, response) => {
  response.sse(content('night.'), finish, '[DONE]');
  response.end();
};

import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { answer, attemptsOf, exchangeFor, refusalOf, routeTo, upstreamAt, useRelay } from '../fixture.ts';

const serve: Handler = (_request, response) => response.json(200, answer);
const error = { message: 'prompt is too long: 9 tokens', type: 'invalid_request_error' };
const tooLong: Handler = (_request, response) => response.json(400, { error });
const tooLarge: Handler = (_request, response) => response.json(413, { error: { message: 'request too large' } });
const tooLongInside: Handler = (_request, response) => response.json(200, { error });
const down: Handler = (_request, response) => response.json(503, { error: { message: 'down' } });

const fixture = useRelay();

const exchangeOver = (...upstreams: readonly (readonly [FaultyUpstream, Route['maxInputTokens']])[]) =>
  exchangeFor(
    upstreams.map(([{ url }, maxInputTokens], index) =>
      routeTo(upstreamAt(url, { name: `u${index}` }), { maxInputTokens }),
    ),
  );

describe('a request that is too long for its route', () => {
  it.each([
    ['400 and words', tooLong],
    ['413', tooLarge],
    ['an error inside a 200', tooLongInside],
  ])('goes to one with a larger window, after %s', async (_name, refuse) => {
    await using small = await createUpstream(refuse);
    await using large = await createUpstream(serve);
    const exchange = exchangeOver([small, 8_000], [large, 200_000]);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange).at(-1)).toBe('u1/model-there served 200');
  });

  it('goes to one whose window is larger than the one that its server names', async () => {
    const message = 'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it';
    const refuse: Handler = (_request, response) =>
      response.json(400, { error: { code: 400, message, type: 'exceed_context_size_error', n_ctx: 4_096 } });
    await using small = await createUpstream(refuse);
    await using other = await createUpstream(serve);
    await using large = await createUpstream(serve);
    const exchange = exchangeOver([small, undefined], [other, 4_096], [large, 200_000]);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange)).toEqual(['u0/model-there failed 400', 'u2/model-there served 200']);
  });

  it('goes to one of which no window is known, after those that are larger, once a server has named its own', async () => {
    const message = 'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it';
    const refuse: Handler = (_request, response) =>
      response.json(400, { error: { code: 400, message, type: 'exceed_context_size_error', n_ctx: 4_096 } });
    await using small = await createUpstream(refuse);
    await using unknown = await createUpstream(serve);
    await using large = await createUpstream(tooLong);
    const exchange = exchangeOver([small, undefined], [unknown, undefined], [large, 8_000]);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange).at(-1)).toBe('u1/model-there served 200');
  });

  it('a request that is too long for its route skips routes whose windows are not larger', async () => {
    await using small = await createUpstream(tooLong);
    await using other = await createUpstream(serve);
    await using large = await createUpstream(serve);
    const exchange = exchangeOver([small, 8_000], [other, 8_000], [large, 8_001]);
    await fixture.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['u0/model-there failed 400', 'u2/model-there served 200']);
  });

  it.each([
    ['says nothing', undefined, undefined],
    ['is not larger', 8_000, 4_000],
    ['is not known to be larger', undefined, 200_000],
  ])('is refused at once when the window of the others %s', async (_name, own, others) => {
    await using small = await createUpstream(tooLong);
    await using other = await createUpstream(serve);
    const refused = await refusalOf(fixture.relay(exchangeOver([small, own], [other, others])));
    expect(refused).toMatchObject({ code: 'upstream_rejected', message: error.message });
    expect(other.requests).toHaveLength(0);
  });

  it('a request that is too long for its route is refused when the larger window is too small as well', async () => {
    await using small = await createUpstream(tooLong);
    await using large = await createUpstream(tooLong);
    const exchange = exchangeOver([small, 8_000], [large, 200_000]);
    expect((await refusalOf(fixture.relay(exchange))).code).toBe('upstream_rejected');
    expect(attemptsOf(exchange)).toHaveLength(2);
  });

  it('a request that is too long for its route is reported as too long when the larger route is down, since a shorter one would be served', async () => {
    await using small = await createUpstream(tooLong);
    await using large = await createUpstream(down);
    const refused = await refusalOf(fixture.relay(exchangeOver([small, 8_000], [large, 200_000])));
    expect(refused).toMatchObject({ code: 'upstream_rejected', message: error.message });
  });

  it('a request that is too long for its route does not count against the route', async () => {
    fixture.health.options.failures = 1;
    await using small = await createUpstream(tooLong);
    const route = routeTo(upstreamAt(small.url));
    await refusalOf(fixture.relay(exchangeFor([route])));
    expect(fixture.health.getStatuses([route])).toMatchObject([{ state: 'closed' }]);
  });
});

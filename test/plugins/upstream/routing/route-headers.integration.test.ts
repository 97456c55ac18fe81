import { describe, expect, it } from 'vitest';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { RouteExposure } from '../../../../plugins/upstream/routing/route-headers.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  attemptsOf,
  content,
  createRelayFixture,
  cut,
  exchangeFor,
  finish,
  refusalOf,
  refuse,
  routeTo,
  serve,
  textOf,
  upstreamAt,
} from '../fixture.ts';

type Names = Readonly<Record<string, string>>;

/** The headers about routes of an answer or error, for one handler per route. */
async function shownFor(exposure: RouteExposure, handlers: readonly Handler[], isStream = false): Promise<Names> {
  await using upstream = await createUpstream(handlers);
  const fixture = createRelayFixture({}, undefined, exposure);
  const routes = handlers.map((_, index) => routeTo(upstreamAt(upstream.url, { name: `vendor${index}` })));
  const exchange = exchangeFor(routes, { isStream });
  const reply = await fixture.relay(exchange).catch((error: GatewayError) => error);
  if ('body' in reply && isStream) await textOf(reply);
  expect(attemptsOf(exchange)).toHaveLength(handlers.length);
  const headers = 'body' in reply ? reply.headers : (reply.details.headers ?? {});
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /route|attempts/.test(name)));
}

const stream: Handler = async (_request, response) => {
  response.sse();
  await response.event(content('hi'));
  await response.event(finish);
  response.end();
};

const empty: Handler = (_request, response) => response.json(200, {});

describe('the headers about routes', () => {
  it('are hidden unless the operator shows them', async () => {
    expect(await shownFor('hidden', [refuse(503), serve])).toEqual({});
    expect(await shownFor('hidden', [refuse(503), refuse(500)])).toEqual({});
  });

  it('name the route that served and those that failed before', async () => {
    expect(await shownFor('names', [refuse(503), cut, serve])).toEqual({
      'x-daypass-route': 'vendor2/model-there',
      'x-daypass-attempts': 'vendor0/model-there 503, vendor1/model-there route, vendor2/model-there 200',
    });
  });

  it('name the fault of a 2xx response that was not an answer', async () => {
    expect(await shownFor('names', [empty, serve])).toMatchObject({
      'x-daypass-attempts': 'vendor0/model-there route, vendor1/model-there 200',
    });
  });

  it('name no vendor when they have numbers', async () => {
    expect(await shownFor('numbers', [refuse(503), serve])).toEqual({
      'x-daypass-route': '2',
      'x-daypass-attempts': '1 503, 2 200',
    });
  });

  it('are those of a stream too', async () => {
    expect(await shownFor('numbers', [refuse(429), stream], true)).toEqual({
      'x-daypass-route': '2',
      'x-daypass-attempts': '1 429, 2 200',
    });
  });

  it('of an error name what was tried', async () => {
    expect(await shownFor('names', [refuse(503), refuse(401)])).toEqual({
      'x-daypass-attempts': 'vendor0/model-there 503, vendor1/model-there 401',
    });
  });

  it('keep the error as it is', async () => {
    await using upstream = await createUpstream([refuse(429, { 'retry-after': '7' })]);
    const fixture = createRelayFixture({}, undefined, 'names');
    const error = await refusalOf(fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))])));
    expect([error.code, error.details.retryAfter]).toEqual(['rate_limited', 7]);
  });

  it('carry no character that a header cannot', async () => {
    await using upstream = await createUpstream(serve);
    const fixture = createRelayFixture({}, undefined, 'names');
    const route = routeTo(upstreamAt(upstream.url), { id: 'one/modèle, 1\r\n' });
    const { headers } = await fixture.relay(exchangeFor([route]));
    expect(headers['x-daypass-route']).toBe('one/mod?le??1??');
  });
});

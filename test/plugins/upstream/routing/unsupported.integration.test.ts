import { describe, expect, it } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { answer, attemptsOf, exchangeFor, refusalOf, routesTo, routeTo, upstreamAt, useRelay } from '../fixture.ts';

const serve: Handler = (_request, response) => response.json(200, answer);
const down: Handler = (_request, response) => response.json(503, { error: { message: 'down' } });
const refusing =
  (status: number, message: string, type = 'server_error'): Handler =>
  (_request, response) =>
    response.json(status, { error: { code: status, message, type } });
const bare: Handler = (_request, response) =>
  response.send(500, { 'content-type': 'text/plain; charset=utf-8' }, 'Internal Server Error');
const noImages = 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj';
const noTools = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
const tooMany = 'max_tokens=5000 cannot be greater than max_model_len=1024. Please request fewer output tokens.';

const bodiesOf = ({ requests }: { readonly requests: readonly { readonly body: Buffer }[] }) =>
  requests.map(({ body }) => (JSON.parse(body.toString()) as { max_tokens?: number }).max_tokens);
const limited: Handler = (request, response) =>
  (JSON.parse(request.body.toString()) as { max_tokens: number }).max_tokens > 1_024
    ? response.json(400, { error: { message: tooMany, type: 'BadRequestError', param: 'max_tokens', code: 400 } })
    : response.json(200, answer);

const fixture = useRelay();

const exchangeOver = (urls: readonly { readonly url: string }[], members: JsonObject = {}) =>
  exchangeFor(routesTo(...urls), { members });

describe('a request that a server does not support', () => {
  it.each([
    ['a 500 about the request', refusing(500, noImages)],
    ['a 400 about the operator’s flags', refusing(400, noTools)],
    ['a limit of output tokens without a number', refusing(400, 'max_tokens=5 cannot be greater than max_model_len')],
    ['such an error inside a 200', refusing(200, noImages, 'internal_error')],
  ])('goes to the next route after %s, and does not count against the first', async (_name, refuse) => {
    fixture.health.options.failures = 1;
    await using first = await createUpstream(refuse);
    await using second = await createUpstream(serve);
    const route = routeTo(upstreamAt(first.url));
    const exchange = exchangeFor([route, routeTo(upstreamAt(second.url, { name: 'two' }))]);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange).at(-1)).toBe('two/model-there served 200');
    expect(fixture.health.getStatuses([route])).toMatchObject([{ state: 'closed' }]);
  });

  it('is refused with the server’s words when no other route supports it', async () => {
    await using first = await createUpstream(refusing(500, noImages));
    await using second = await createUpstream(refusing(400, noTools));
    const refused = await refusalOf(fixture.relay(exchangeOver([first, second])));
    expect(refused).toMatchObject({
      code: 'upstream_rejected',
      message: noImages,
      details: { upstream: { status: 400 } },
    });
  });

  it('is refused without words about the operator’s flags when that is the only reason', async () => {
    await using first = await createUpstream(refusing(400, noTools));
    const exchange = exchangeOver([first]);
    const refused = await refusalOf(fixture.relay(exchange));
    expect([refused.code, refused.message]).toEqual([
      'not_supported',
      'The server of this model is not set up for this request. Contact the operator of this service.',
    ]);
    expect(exchange.get(delivery).attempts[0]?.error).toBe(`setup: 400 ${noTools}`);
  });

  it('goes to the next route after a bare 500 of transformers serve, which answers invalid requests so', async () => {
    fixture.health.options.failures = 1;
    await using first = await createUpstream(bare);
    await using second = await createUpstream(serve);
    const route = routeTo(upstreamAt(first.url, { vendor: 'transformers-serve' }));
    const exchange = exchangeFor([route, routeTo(upstreamAt(second.url, { name: 'two' }))]);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(fixture.health.getStatuses([route])).toMatchObject([{ state: 'closed' }]);
    const refused = await refusalOf(fixture.relay(exchangeFor([route])));
    expect(refused).toMatchObject({ code: 'upstream_rejected', details: { upstream: { status: 400 } } });
    const other = routeTo(upstreamAt(first.url, { name: 'other' }));
    expect((await refusalOf(fixture.relay(exchangeFor([other])))).code).toBe('upstream_failed');
  });

  it('can be tried again while the route that may support it is down', async () => {
    await using first = await createUpstream(refusing(500, noImages));
    await using second = await createUpstream(down);
    expect((await refusalOf(fixture.relay(exchangeOver([first, second])))).code).toBe('unavailable');
  });
});

describe('reasoning that the model of a server does not have', () => {
  const noThinking = '"tiny:latest" does not support thinking';
  const reasons: Handler = (request, response) =>
    'reasoning_effort' in request.json()
      ? response.json(400, { error: { message: noThinking, type: 'invalid_request_error', param: null, code: null } })
      : response.json(200, answer);

  it('is left out with a note, and the route is asked once more', async () => {
    await using ollama = await createUpstream(reasons);
    const exchange = exchangeOver([ollama], { reasoning_effort: 'high' });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(ollama.requests.map((request) => request.json()['reasoning_effort'])).toEqual(['high', undefined]);
    expect(exchange.get(delivery).notes).toEqual(['dropped reasoning']);
  });

  it('is asked of another route first, which may have it', async () => {
    await using ollama = await createUpstream(reasons);
    await using other = await createUpstream(serve);
    const exchange = exchangeOver([ollama, other], { reasoning_effort: 'high' });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect([ollama, other].map(({ requests }) => requests.length)).toEqual([1, 1]);
    expect(other.requests[0]?.json()['reasoning_effort']).toBe('high');
  });

  it('is refused with the server’s words by a server that refuses it again', async () => {
    await using ollama = await createUpstream(refusing(400, noThinking));
    const refused = await refusalOf(fixture.relay(exchangeOver([ollama], { reasoning_effort: 'high' })));
    expect([refused.message, ollama.requests.length]).toEqual([noThinking, 2]);
  });
});

describe('a limit of output tokens that is too large for a server', () => {
  it('is lowered to the one that it names, with a note, and the same route is asked once more', async () => {
    await using small = await createUpstream(limited);
    await using other = await createUpstream(serve);
    const exchange = exchangeOver([small, other], { max_tokens: 5_000 });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect([bodiesOf(small), other.requests.length]).toEqual([[5_000, 1_024], 0]);
    expect(exchange.get(delivery).notes).toEqual(['approximated output token limit as 1024']);
  });

  it('is lowered for every request, however many there are', async () => {
    await using small = await createUpstream(limited);
    const statuses: (number | undefined)[] = [];
    for (let request = 0; request < 20; request++)
      statuses.push((await fixture.relay(exchangeOver([small], { max_tokens: 5_000 }))).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('goes to the next route where the server refuses the lower one as well, and is never an overlong prompt', async () => {
    await using small = await createUpstream(refusing(400, tooMany, 'BadRequestError'));
    await using other = await createUpstream(serve);
    const exchange = exchangeOver([small, other], { max_tokens: 5_000 });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange)).toEqual([
      'u0/model-there failed 400',
      'u0/model-there failed 400',
      'u1/model-there served 200',
    ]);
    const refused = await refusalOf(fixture.relay(exchangeOver([small], { max_tokens: 5_000 })));
    expect([refused.code, refused.messageFor('anthropic')]).toEqual(['upstream_rejected', tooMany]);
  });
});

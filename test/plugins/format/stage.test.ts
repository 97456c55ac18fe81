import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { adapter } from '#core/gateway/facts.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { formatStage } from '../../../plugins/format/stage.ts';
import { chatEndpoint, createExchange, type ExchangeFixture, modelsEndpoint } from '../../support/exchange.ts';
import { descriptors } from '../../support/formats.ts';
import { refusalOf, routeTo, upstreamAt } from '../upstream/fixture.ts';
import { hostOf, modelOf } from './catalog/catalog-fixture.ts';

const messages = [{ role: 'user', content: 'hi' }];
const messagesEndpoint: Endpoint = {
  ...chatEndpoint,
  name: 'messages',
  path: '/v1/messages',
  format: descriptors.messages,
};
const countTokens: Endpoint = { ...messagesEndpoint, name: 'count_tokens', path: '/v1/messages/count_tokens' };
const profile = mergeProfiles({ quirks: { count_tokens: true } });
const real = modelOf('real', ['messages'], {
  routes: [
    routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: ['messages'] }), {
      profile: mergeProfiles({ quirks: { betas: true } }),
    }),
  ],
});
const counter = modelOf('counter', ['messages'], {
  routes: [routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: ['messages'] }), { profile })],
});
const host = hostOf([modelOf('test', ['chat', 'messages']), modelOf('painter', ['images']), counter, real]);

async function enter(stub: ExchangeFixture) {
  const exchange = createExchange(stub);
  const stage = await formatStage.create({ keep_reasoning_hours: 24 }, host);
  await stage.enter?.(exchange);
  return exchange;
}
const refusal = (body: string | object, endpoint = chatEndpoint): Promise<GatewayError> =>
  refusalOf(enter({ body, endpoint }));

describe('a request', () => {
  it('a request leads to its model', async () => {
    const { model, modelName } = (await enter({ body: { model: 'test', messages } })).get(adapter);
    expect([model.id, modelName]).toEqual(['test', 'dp/test']);
  });

  it('a request by an alias keeps the requested name', async () => {
    const { model, modelName } = (await enter({ body: { model: 'alias', messages } })).get(adapter);
    expect([model.id, modelName]).toEqual(['test', 'alias']);
  });

  it.each([
    [true, true],
    [false, false],
    [null, false],
    [undefined, false],
  ])('with stream: %s wants a stream: %s', async (stream, expected) => {
    expect((await enter({ body: { model: 'test', messages, stream } })).get(adapter).isStream).toBe(expected);
  });

  it('a request that calls no model passes untouched, without reading its body', async () => {
    const exchange = await enter({ endpoint: modelsEndpoint, body: 'no JSON' });
    expect(exchange.find(adapter)).toBeUndefined();
  });

  it('a request is sent to the path of its format', async () => {
    const { model, encode } = (await enter({ body: { model: 'test', messages } })).get(adapter);
    expect(encode).toBeTypeOf('function');
    const request = (await enter({ body: { model: 'test', messages } })).get(adapter).encode(model.routes[0]!);
    expect(request.path).toBe('/chat/completions');
  });

  it('a request to count tokens is sent to a route that supports it, on its own path', async () => {
    const exchange = await enter({ endpoint: countTokens, body: { model: 'counter', messages } });
    const { model } = exchange.get(adapter);
    expect(exchange.get(adapter).encode(model.routes[0]!).path).toBe('/messages/count_tokens');
  });

  it('a request to count tokens gets an estimate if no route supports it', async () => {
    const exchange = createExchange({ endpoint: countTokens, body: { model: 'test', messages } });
    const stage = await formatStage.create({ keep_reasoning_hours: 24 }, host);
    const reply = (await stage.enter?.(exchange)) as Reply;
    expect(JSON.parse(String(reply.body))).toEqual({ input_tokens: expect.any(Number) });
  });

  it.each([404, 500, 501, 529])(
    'to count tokens is answered with an estimate where the route says %i',
    async (status) => {
      const exchange = createExchange({ endpoint: countTokens, body: { model: 'counter', messages } });
      const stage = await formatStage.create({ keep_reasoning_hours: 24 }, host);
      await stage.enter?.(exchange);
      const reply = (await stage.leave?.(exchange, { status, headers: {}, body: '{}' })) as Reply;
      expect([reply.status, JSON.parse(String(reply.body))]).toEqual([200, { input_tokens: expect.any(Number) }]);
    },
  );

  it('a request to count tokens that the route refuses gets the route’s error', async () => {
    const exchange = createExchange({ endpoint: countTokens, body: { model: 'counter', messages } });
    const stage = await formatStage.create({ keep_reasoning_hours: 24 }, host);
    await stage.enter?.(exchange);
    const refused = { status: 400, headers: {}, body: '{}' };
    expect(await stage.leave?.(exchange, refused)).toBe(refused);
  });

  it.each([
    ['test', { 'anthropic-version': '2023-06-01' }],
    ['real', { 'anthropic-version': '2099-01-01', 'anthropic-beta': 'tools' }],
  ])('carries the client’s version and betas of an API to its vendor only: %s', async (name, sent) => {
    const headers = {
      'anthropic-version': '2099-01-01',
      'anthropic-beta': 'tools',
      cookie: 'secret',
      authorization: 'x',
    };
    const body = { model: name, messages, max_tokens: 1 };
    const exchange = await enter({ endpoint: messagesEndpoint, headers, body });
    const { model } = exchange.get(adapter);
    expect(exchange.get(adapter).encode(model.routes[0]!).headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      ...sent,
    });
  });
});

describe('a model', () => {
  it.each([null, '', 5, ['test'], { id: 'test' }])('a model that is not a name is refused: %j', async (model) => {
    const { code, details, message } = await refusal({ model, messages });
    expect([code, details.param]).toEqual(['invalid_request', 'model']);
    expect(message).toContain('`model` must be a string');
  });

  it('a missing model is refused', async () => {
    expect((await refusal({ messages })).message).toContain('Missing required parameter: `model`');
  });

  it('an unknown model is not found', async () => {
    const { code, details } = await refusal({ model: 'other', messages });
    expect([code, details.param]).toEqual(['model_not_found', 'model']);
  });

  it('a misspelt model is answered with a suggestion', async () => {
    expect((await refusal({ model: 'alais', messages })).message).toContain('Did you mean "alias"?');
  });

  it('a model that resembles no other is answered with a hint to the list', async () => {
    expect((await refusal({ model: 'other', messages })).message).toContain('GET /v1/models');
  });

  it('an overlong model name is shortened in the error', async () => {
    expect((await refusal({ model: 'x'.repeat(100_000), messages })).message.length).toBeLessThan(400);
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'a model named like a member of Object is not found: %s',
    async (model) => {
      expect((await refusal(JSON.stringify({ model, messages }))).code).toBe('model_not_found');
    },
  );

  it('an image model refuses conversations', async () => {
    const { code, message } = await refusal({ model: 'painter', messages });
    expect(code).toBe('wrong_endpoint');
    expect(message).toContain('/v1/images/generations');
  });
});

describe('a wrong request', () => {
  it('an unknown model is reported before other mistakes', async () => {
    expect((await refusal({ model: 'other', messages: 5 })).code).toBe('model_not_found');
  });

  it('wrong parameters are reported before the request is prepared', async () => {
    expect((await refusal({ model: 'test', messages: 5 })).details.param).toBe('messages');
  });

  it('parameters are checked by the rules of their endpoint', async () => {
    expect((await refusal({ model: 'test', messages }, messagesEndpoint)).details.param).toBe('max_tokens');
  });
});

import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { entitlement } from '#core/gateway/facts.ts';
import { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import {
  getGeminiModel,
  listGeminiModels,
  getModel,
  listModels,
} from '../../../../plugins/format/catalog/catalog-endpoints.ts';
import { createExchange, modelsEndpoint } from '../../../support/exchange.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { hostOf, modelOf } from './catalog-fixture.ts';

const host = hostOf([
  modelOf('one', ['chat'], { displayName: 'Model One', maxInputTokens: 200_000, maxOutputTokens: 8_000 }),
  modelOf('vendor/two'),
]);
const states = new Map([['dp/one', 'down' as const]]);
const bodyOf = ({ body }: Reply) => JSON.parse(String(body));
const asking = (id = '') => new Exchange({ ...createExchange({ endpoint: modelsEndpoint }), params: { id } });

const paged = (query: string) =>
  new Exchange({ ...createExchange({ endpoint: modelsEndpoint }), query: new URLSearchParams(query) });

/** Asks without an active period. */
const inactive = (id = '', inactiveReason = 'No active plan. Choose one at https://gateway.example') => {
  const exchange = asking(id);
  exchange.set(entitlement, { period: undefined, secondsLeft: 0, inactiveReason });
  return exchange;
};

const routeOf = (priority: number, maxInputTokens: number, max_output_tokens: number) =>
  routeTo(upstreamAt('http://127.0.0.1:1/v1'), {
    priority,
    maxInputTokens,
    profile: mergeProfiles({ quirks: { max_output_tokens } }),
  });

describe('the list of models', () => {
  it('is no catalog of Codex, which would replace its own models, instructions and tools', () => {
    const body = bodyOf(listModels(host, paged('client_version=0.171.0'), states)) as object;
    expect(Object.keys(body)).not.toContain('models');
  });

  it('is one page with every model by its public name, then the aliases', () => {
    const { object, data, has_more, first_id, last_id } = bodyOf(listModels(host, asking(), states));
    expect([object, has_more, first_id, last_id]).toEqual(['list', false, 'dp/one', 'alias']);
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['dp/one', 'dp/vendor/two', 'alias']);
  });

  it('an alias is described as its model', () => {
    expect(bodyOf(listModels(host, asking(), states)).data[2]).toMatchObject({
      id: 'alias',
      display_name: 'Model One',
    });
  });

  it('a listed model has the members that OpenAI’s and Anthropic’s SDKs read', () => {
    expect(bodyOf(listModels(host, asking(), states)).data[0]).toEqual({
      id: 'dp/one',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'daypass',
      type: 'model',
      display_name: 'Model One',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      max_input_tokens: 200_000,
      max_tokens: 8_000,
      capabilities: null,
      deprecated_at: null,
      lifecycle: 'active',
      line: null,
      retires_at: null,
      kind: 'chat',
      status: 'down',
    });
  });

  it.each([
    ['limit=2', ['dp/one', 'dp/vendor/two'], true],
    ['limit=2&after_id=dp/vendor/two', ['alias'], false],
    ['limit=1&before_id=alias', ['dp/vendor/two'], true],
    ['before_id=alias', ['dp/one', 'dp/vendor/two'], false],
    ['limit=1000', ['dp/one', 'dp/vendor/two', 'alias'], false],
  ])('the page ?%s of the list of models has %j', (query, ids, has_more) => {
    const page = bodyOf(listModels(host, paged(query), states));
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(page).toMatchObject({ has_more, first_id: ids[0], last_id: ids.at(-1) });
  });

  it.each(['limit=0', 'limit=x', 'after_id=unknown'])('?%s is not a page of the list of models', (query) => {
    expect(() => listModels(host, paged(query), states)).toThrow(/must be/);
  });

  it('Google’s clients get pages with a token of the next one', () => {
    const first = bodyOf(listGeminiModels(host, paged('pageSize=2')));
    expect(first).toMatchObject({ nextPageToken: 'dp/vendor/two', models: [{ name: 'models/dp/one' }, {}] });
    const last = bodyOf(listGeminiModels(host, paged(`pageSize=2&pageToken=${first.nextPageToken}`)));
    expect(last.models).toMatchObject([{ name: 'models/alias' }]);
    expect(last).not.toHaveProperty('nextPageToken');
  });

  it('an unknown limit is null', () => {
    expect(bodyOf(listModels(host, asking(), states)).data[1]).toMatchObject({
      max_input_tokens: null,
      max_tokens: null,
    });
  });

  it('a model without limits has those of its primary routes', () => {
    const routes = [routeOf(1, 200_000, 8_000), routeOf(1, 100_000, 9_000), routeOf(2, 50_000, 4_000)];
    const limited = hostOf([modelOf('three', [], { routes })]);
    expect(bodyOf(listModels(limited, asking(), states)).data[0]).toMatchObject({
      max_input_tokens: 100_000,
      max_tokens: 8_000,
    });
    expect(bodyOf(listGeminiModels(limited, asking())).models[0]).toMatchObject({
      inputTokenLimit: 100_000,
      outputTokenLimit: 8_000,
    });
  });

  it('the list of models may be empty', () => {
    expect(bodyOf(listModels(hostOf([]), asking(), states))).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });

  it('the list of models reveals nothing about upstreams', () => {
    expect(String(listModels(host, asking(), states).body)).not.toMatch(/model-there|127\.0\.0\.1/);
  });
});

describe('one model', () => {
  it.each([
    ['public', 'dp/vendor/two'],
    ['short', 'vendor/two'],
  ])('by its %s name is the one of the list', (_name, id) => {
    const listed = bodyOf(listModels(host, asking(), states)).data.find(
      (model: { id: string }) => model.id === 'dp/vendor/two',
    );
    expect(bodyOf(getModel(host, asking(id), states))).toEqual(listed);
  });

  it('a model requested by an alias has the requested name', () => {
    expect(bodyOf(getModel(host, asking('alias'), states))).toMatchObject({ id: 'alias', display_name: 'Model One' });
  });

  it.each(['', 'three', '__proto__', 'x'.repeat(10_000)])('that does not exist is not found (%#)', (id) => {
    expect(() => getModel(host, asking(id), states)).toThrow(
      expect.objectContaining({
        code: 'model_not_found',
        message: expect.stringMatching(/^.{0,300}$/),
      }) as GatewayError,
    );
  });
});

describe('for an account without an active period', () => {
  it.each([
    ['OpenAI and Anthropic', listModels, { object: 'list', data: [], has_more: false, first_id: null, last_id: null }],
    ['Google', listGeminiModels, { models: [] }],
  ])('the list of %s is empty, and a header says why', (_name, list, body) => {
    const reply = list(host, inactive(), states);
    expect(reply.status).toBe(200);
    expect(bodyOf(reply)).toEqual(body);
    expect(reply.headers['x-daypass-notice']).toBe('No active plan. Choose one at https://gateway.example');
  });

  it.each([
    ['getModel', getModel],
    ['getGeminiModel', getGeminiModel],
  ])('%s is refused with the reason', (_name, get) => {
    expect(() => get(host, inactive('dp/one'), states)).toThrow(
      expect.objectContaining({ code: 'plan_inactive', message: expect.stringMatching(/^No active plan/) }),
    );
  });

  it('the notice header is ASCII, whatever the base URL', () => {
    const { headers } = listModels(host, inactive('', 'Renew at https://bücher.example/\n\ud800'), states);
    expect(headers['x-daypass-notice']).toBe('Renew at https://b%C3%BCcher.example/%0A%EF%BF%BD');
  });
});

it('during an active period the list has every model and no notice', () => {
  const exchange = asking();
  exchange.set(entitlement, { period: { startsAt: new Date(0), endsAt: new Date(1), label: 'x' }, secondsLeft: 1 });
  const reply = listModels(host, exchange, states);
  expect(bodyOf(reply).data).toHaveLength(3);
  expect(Object.keys(reply.headers)).toEqual(['content-type', 'cache-control']);
});

describe('for clients of Google', () => {
  it('a model is described with its limits and what can be asked of it', () => {
    expect(bodyOf(listGeminiModels(host, asking())).models[0]).toEqual({
      name: 'models/dp/one',
      baseModelId: 'dp/one',
      version: '1',
      displayName: 'Model One',
      description: '',
      inputTokenLimit: 200_000,
      outputTokenLimit: 8_000,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    });
  });

  it('the list is one page with every model by its public name, then the aliases', () => {
    const { models, nextPageToken } = bodyOf(listGeminiModels(host, asking()));
    expect([models.map(({ name }: { name: string }) => name), nextPageToken]).toEqual([
      ['models/dp/one', 'models/dp/vendor/two', 'models/alias'],
      undefined,
    ]);
  });

  it('an image model supports no generateContent', () => {
    const [model] = bodyOf(listGeminiModels(hostOf([modelOf('pictures', ['images'])]), asking())).models;
    expect(model.supportedGenerationMethods).toEqual([]);
  });

  it('a model requested by its short name has its public name', () => {
    expect(bodyOf(getGeminiModel(host, asking('one')))).toMatchObject({ name: 'models/dp/one' });
  });

  it('a Gemini model requested by an alias has the requested name', () => {
    expect(bodyOf(getGeminiModel(host, asking('alias')))).toMatchObject({
      name: 'models/alias',
      displayName: 'Model One',
    });
  });

  it('a model that does not exist is not found', () => {
    expect(() => getGeminiModel(host, asking('three'))).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });
});

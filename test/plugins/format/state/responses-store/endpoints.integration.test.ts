import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultyUpstream } from '../../../../support/faulty-upstream.ts';
import { answerText, outputItem, responsesUpstream, startStore, type StoreGateway, user } from './fixture.ts';

let upstream: FaultyUpstream;
let gateway: StoreGateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await responsesUpstream();
  gateway = await startStore(upstream);
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const get = async (path: string, key?: string) => {
  const reply = await gateway.call('GET', path, undefined, key);
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
};
const notFound = (id: string) => ({
  error: { message: `Response with id '${id}' not found.`, type: 'invalid_request_error', param: null, code: null },
});

describe('a stored response', () => {
  it('is fetched by its id, and says that it is stored', async () => {
    const { id, output } = await gateway.create({ input: 'one' });
    const { status, body } = await get(`/v1/responses/${id}`);
    expect([status, body]).toMatchObject([200, { id, output, store: true, status: 'completed' }]);
  });

  it('is fetched without /v1 too', async () => {
    const { id } = await gateway.create({ input: 'one' });
    expect((await get(`/responses/${id}`)).body).toMatchObject({ id });
  });

  it('is not found by another account', async () => {
    const { id } = await gateway.create({ input: 'one' });
    expect(await get(`/v1/responses/${id}`, await gateway.otherKey())).toEqual({ status: 404, body: notFound(id) });
  });

  it('is not found without a key', async () => {
    const { id } = await gateway.create({ input: 'one' });
    expect((await get(`/v1/responses/${id}`, 'none')).status).toBe(401);
  });

  it('is not what a POST to compact is taken for', async () => {
    const reply = await gateway.call('POST', '/v1/responses/compact', { model: 'test', input: 'one' });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect([reply.status, error.message]).toEqual([404, expect.stringContaining('is not supported')]);
  });

  it('is streamed again, as a client of the openai SDK reads it', async () => {
    const { id, output } = await gateway.create({ input: 'one' });
    const stream = await client.responses.retrieve(id, { stream: true });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events.at(0)?.type).toBe('response.created');
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id, output } });
    const rest = await Array.fromAsync(await client.responses.retrieve(id, { stream: true, starting_after: 3 }));
    expect(rest).toEqual(events.slice(4));
  });

  it('is not cancelled, unless it runs in the background', async () => {
    const { id } = await gateway.create({ input: 'one' });
    await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
  });

  it('is deleted once', async () => {
    const { id } = await gateway.create({ input: 'one' });
    const first = await gateway.call('DELETE', `/v1/responses/${id}`);
    const second = await gateway.call('DELETE', `/v1/responses/${id}`);
    expect([await first.json(), await second.json()]).toEqual([
      { id, object: 'response', deleted: true },
      notFound(id),
    ]);
  });

  it('is not deleted by another account', async () => {
    const { id } = await gateway.create({ input: 'one' });
    const reply = await gateway.call('DELETE', `/v1/responses/${id}`, undefined, await gateway.otherKey());
    expect([reply.status, (await get(`/v1/responses/${id}`)).status]).toEqual([404, 200]);
  });

  it('cannot be put', async () => {
    const reply = await gateway.call('PUT', '/v1/responses/resp_1', {});
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, DELETE']);
  });

  it('is fetched without counting as a request', async () => {
    const reply = await gateway.call('GET', '/v1/responses/resp_1');
    expect(reply.headers.get('x-ratelimit-remaining')).toBeNull();
  });
});

describe('the input items of a response', () => {
  const items = ['a', 'b', 'c'].map((id) => ({ ...user(id), id: `msg_${id}` }));
  const page = async (query: string) => {
    const { id } = await gateway.create({ input: items });
    const { body } = await get(`/v1/responses/${id}/input_items${query}`);
    const { data, ...rest } = body as { data: { id: string }[] };
    return { ids: data.map((item) => item.id), ...rest };
  };

  it('come latest first', async () => {
    expect(await page('')).toEqual({
      object: 'list',
      ids: ['msg_c', 'msg_b', 'msg_a'],
      first_id: 'msg_c',
      last_id: 'msg_a',
      has_more: false,
    });
  });

  it('come in their order when that is asked for', async () => {
    expect((await page('?order=asc')).ids).toEqual(['msg_a', 'msg_b', 'msg_c']);
  });

  it('come page by page', async () => {
    expect(await page('?limit=1&after=msg_c')).toMatchObject({ ids: ['msg_b'], has_more: true });
  });

  it('show texts as parts, under ids', async () => {
    const { id } = await gateway.create({ input: 'hello' });
    const { data } = (await get(`/v1/responses/${id}/input_items`)).body;
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: 'hello' }],
      },
    ]);
  });

  it.each(['limit=0', 'limit=101', 'order=up', 'after=msg_x'])('are refused with %s', async (query) => {
    const { id } = await gateway.create({ input: 'hello' });
    const { status, body } = await get(`/v1/responses/${id}/input_items?${query}`);
    expect([status, body]).toMatchObject([400, { error: { param: query.split('=')[0] } }]);
  });

  it('of an id that never was are not found', async () => {
    expect(await get('/v1/responses/resp_never/input_items')).toEqual({ status: 404, body: notFound('resp_never') });
  });
});

describe('the openai SDK', () => {
  it('continues a response', async () => {
    const first = await client.responses.create({ model: 'test', input: 'one' });
    const second = await client.responses.create({ model: 'test', input: 'two', previous_response_id: first.id });
    expect([second.previous_response_id, (await gateway.sent(upstream.requests.length)).length]).toEqual([first.id, 3]);
  });

  it('continues a response that it has streamed', async () => {
    const first = await client.responses.stream({ model: 'test', input: 'one' }).finalResponse();
    const next = client.responses.stream({ model: 'test', input: 'two', previous_response_id: first.id });
    expect((await next.finalResponse()).output_text).toMatch(/^answer/);
  });

  it('retrieves a response', async () => {
    const { id } = await client.responses.create({ model: 'test', input: 'one' });
    expect((await client.responses.retrieve(id)).output_text).toBe(answerText(Number(id.slice(5))));
  });

  it('deletes a response', async () => {
    const { id } = await client.responses.create({ model: 'test', input: 'one' });
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('lists all input items over several pages', async () => {
    const first = await client.responses.create({ model: 'test', input: 'one' });
    const { id } = await client.responses.create({ model: 'test', input: 'two', previous_response_id: first.id });
    const pages = client.responses.inputItems.list(id, { limit: 1, order: 'asc' });
    const listed = await Array.fromAsync(pages, (item) => item.id);
    expect([listed.length, listed[1]]).toEqual([3, outputItem(Number(first.id.slice(5))).id]);
  });
});

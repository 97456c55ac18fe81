import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultyUpstream } from '../../../../support/faulty-upstream.ts';
import { outputItem, responsesUpstream, startStore, type StoreGateway, user } from './fixture.ts';

let upstream: FaultyUpstream;
let gateway: StoreGateway;

beforeAll(async () => {
  upstream = await responsesUpstream();
  gateway = await startStore(upstream);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const numberOf = (id: string) => Number(id.slice('resp_'.length));
const lastSent = () => gateway.sent(upstream.requests.length);

async function refused(body: object, key?: string) {
  const reply = await gateway.call('POST', '/v1/responses', { model: 'test', ...body }, key);
  const { error } = (await reply.json()) as { error: { code: string; param: string; message: string } };
  return { status: reply.status, retry: reply.headers.get('x-should-retry'), ...error };
}

describe('a response that is continued', () => {
  it.each([false, true])('is put before the new input, with stream: %s', async (stream) => {
    const first = await gateway.create({ input: 'one', stream });
    await gateway.create({ input: 'two', previous_response_id: first.id, stream });
    expect(await lastSent()).toEqual([user('one'), outputItem(numberOf(first.id)), user('two')]);
  });

  it('may itself continue another', async () => {
    const first = await gateway.create({ input: 'one' });
    const second = await gateway.create({ input: 'two', previous_response_id: first.id, stream: true });
    await gateway.create({ input: [user('three')], previous_response_id: second.id });
    const [one, two] = [first, second].map(({ id }) => outputItem(numberOf(id)));
    expect(await lastSent()).toEqual([user('one'), one, user('two'), two, user('three')]);
  });

  it('is not named to the upstream', async () => {
    const first = await gateway.create({ input: 'one' });
    await gateway.create({ input: 'two', previous_response_id: first.id });
    expect(upstream.requests.at(-1)?.json()).not.toHaveProperty('previous_response_id');
  });

  it.each([false, true])('is named in the answer, with stream: %s', async (stream) => {
    const first = await gateway.create({ input: 'one' });
    const second = await gateway.create({ input: 'two', previous_response_id: first.id, stream });
    expect(second.previous_response_id).toBe(first.id);
  });

  it.each([false, true])('is named where the upstream leaves it out, with stream: %s', async (stream) => {
    await using silent = await responsesUpstream({ previous_response_id: undefined });
    await using other = await startStore(silent);
    const first = await other.create({ input: 'one' });
    const second = await other.create({ input: 'two', previous_response_id: first.id, stream });
    expect(second).toMatchObject({ previous_response_id: first.id, output: [{ id: 'msg_2' }] });
  });

  it('does not hand on its instructions and tools', async () => {
    const first = await gateway.create({ input: 'one', instructions: 'be brief', tools: [] });
    await gateway.create({ input: 'two', previous_response_id: first.id });
    expect(Object.keys(upstream.requests.at(-1)?.json() ?? {}).toSorted()).toEqual(['input', 'model']);
  });

  it('may be continued from a turn that is not stored', async () => {
    const first = await gateway.create({ input: 'one' });
    const second = await gateway.create({ input: 'two', previous_response_id: first.id, store: false });
    expect(second.previous_response_id).toBe(first.id);
  });
});

describe('a reference to an item', () => {
  it('becomes the item that the continued response has put out', async () => {
    const first = await gateway.create({ input: 'one' });
    const item = outputItem(numberOf(first.id));
    const reference = { type: 'item_reference', id: item.id };
    await gateway.create({ input: [reference, user('two')], previous_response_id: first.id });
    expect((await lastSent()).slice(2)).toEqual([item, user('two')]);
  });

  it('becomes the item of any stored response', async () => {
    const first = await gateway.create({ input: 'one' });
    const item = outputItem(numberOf(first.id));
    await gateway.create({ input: [user('one'), { id: item.id }, user('two')] });
    expect(await lastSent()).toEqual([user('one'), item, user('two')]);
  });

  it('that another account has got is refused', async () => {
    const first = await gateway.create({ input: 'one' });
    const input = [{ type: 'item_reference', id: outputItem(numberOf(first.id)).id }];
    const { status, param } = await refused({ input }, await gateway.otherKey());
    expect([status, param]).toEqual([400, 'input[0]']);
  });
});

describe('what cannot be continued', () => {
  const notFound = {
    status: 400,
    retry: 'false',
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  };

  it('is an id that never was', async () => {
    expect(await refused({ input: 'two', previous_response_id: 'resp_never' })).toMatchObject(notFound);
  });

  it.each([false, true])('is an answer that was not to be stored, with stream: %s', async (stream) => {
    const { id } = await gateway.create({ input: 'one', store: false, stream });
    expect(await refused({ input: 'two', previous_response_id: id })).toMatchObject(notFound);
  });

  it('is the answer to another account', async () => {
    const { id } = await gateway.create({ input: 'one' });
    expect(await refused({ input: 'two', previous_response_id: id }, await gateway.otherKey())).toMatchObject(notFound);
  });

  it('is an answer that has expired', async () => {
    const { id } = await gateway.create({ input: 'one' });
    await gateway.database.query('UPDATE response_store SET expires_at = now() WHERE id = ?', [id]);
    expect(await refused({ input: 'two', previous_response_id: id })).toMatchObject(notFound);
  });

  it('is an answer that was deleted', async () => {
    const { id } = await gateway.create({ input: 'one' });
    await gateway.call('DELETE', `/v1/responses/${id}`);
    expect(await refused({ input: 'two', previous_response_id: id })).toMatchObject(notFound);
  });

  it('is a conversation', async () => {
    const { status, param, code } = await refused({ input: 'two', conversation: 'conv_1' });
    expect([status, param, code]).toEqual([400, 'conversation', 'not_supported']);
  });

  it('is an id that is no text', async () => {
    const { status, param, message } = await refused({ input: 'two', previous_response_id: 7 });
    expect([status, param, message]).toEqual([400, 'previous_response_id', expect.stringContaining('a string')]);
  });
});

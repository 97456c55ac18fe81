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
  it.each([false, true])('the continued response is put before the new input, with stream: %s', async (stream) => {
    const first = await gateway.create({ input: 'one', stream });
    await gateway.create({ input: 'two', previous_response_id: first.id, stream });
    expect(await lastSent()).toEqual([user('one'), outputItem(numberOf(first.id)), user('two')]);
  });

  it('a continued response may itself continue another', async () => {
    const first = await gateway.create({ input: 'one' });
    const second = await gateway.create({ input: 'two', previous_response_id: first.id, stream: true });
    await gateway.create({ input: [user('three')], previous_response_id: second.id });
    const [one, two] = [first, second].map(({ id }) => outputItem(numberOf(id)));
    expect(await lastSent()).toEqual([user('one'), one, user('two'), two, user('three')]);
  });

  it('the upstream does not get the id of the continued response', async () => {
    const first = await gateway.create({ input: 'one' });
    await gateway.create({ input: 'two', previous_response_id: first.id });
    expect(upstream.requests.at(-1)?.json()).not.toHaveProperty('previous_response_id');
  });

  it.each([false, true])('the answer has the id of the continued response, with stream: %s', async (stream) => {
    const first = await gateway.create({ input: 'one' });
    const second = await gateway.create({ input: 'two', previous_response_id: first.id, stream });
    expect(second.previous_response_id).toBe(first.id);
  });

  it.each([false, true])(
    'the answer has the id of the continued response where the upstream leaves it out, with stream: %s',
    async (stream) => {
      await using silent = await responsesUpstream({ previous_response_id: undefined });
      await using other = await startStore(silent);
      const first = await other.create({ input: 'one' });
      const second = await other.create({ input: 'two', previous_response_id: first.id, stream });
      expect(second).toMatchObject({ previous_response_id: first.id, output: [{ id: 'msg_2' }] });
    },
  );

  it('a continued response does not pass on its instructions and tools', async () => {
    const first = await gateway.create({ input: 'one', instructions: 'be brief', tools: [] });
    await gateway.create({ input: 'two', previous_response_id: first.id });
    expect(Object.keys(upstream.requests.at(-1)?.json() ?? {}).toSorted()).toEqual(['input', 'model']);
  });

  it('a turn that is not stored can continue a stored response', async () => {
    const first = await gateway.create({ input: 'one' });
    const second = await gateway.create({ input: 'two', previous_response_id: first.id, store: false });
    expect(second.previous_response_id).toBe(first.id);
  });
});

function callOf(id: string, city: string) {
  const input = JSON.stringify({ city, day: 1 });
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'look', arguments: input, status: 'completed' };
}

/** The same call as CAMEL sends it. */
function repeatedCall(id: string, city: string) {
  return { type: 'function_call', call_id: id, name: 'look', arguments: `{"day": 1, "city": "${city}"}` };
}

function resultOf(id: string, output = 'rain') {
  return { type: 'function_call_output', call_id: id, output };
}

/** The items that an upstream gets behind the first question, where a response with this output is continued with this input. */
async function continueWith(output: readonly object[], input: readonly object[]) {
  await using calling = await responsesUpstream({ output });
  await using store = await startStore(calling);
  const first = await store.create({ input: 'one' });
  await store.create({ input, previous_response_id: first.id });
  return (await store.sent(2)).slice(1);
}

describe('a request that repeats calls of the response that it continues', () => {
  it('the calls and the text before them stand once', async () => {
    const output = [outputItem(1), callOf('a', 'Bern'), callOf('b', 'Basel')];
    const text = { role: 'assistant', content: 'answer 1' };
    const input = [text, repeatedCall('a', 'Bern'), resultOf('a'), repeatedCall('b', 'Basel'), resultOf('b')];
    expect(await continueWith(output, input)).toEqual([...output, resultOf('a'), resultOf('b')]);
  });

  it('a call of a freeform tool stands once', async () => {
    const patch = { type: 'custom_tool_call', call_id: 'p', name: 'patch', input: '*** Begin' };
    const result = { type: 'custom_tool_call_output', call_id: 'p', output: 'done' };
    expect(await continueWith([{ ...patch, id: 'ctc_p' }], [patch, result])).toEqual([
      { ...patch, id: 'ctc_p' },
      result,
    ]);
  });

  it('two calls with one id stand once each', async () => {
    const output = [callOf('a', 'Bern'), callOf('a', 'Bern')];
    const input = [repeatedCall('a', 'Bern'), repeatedCall('a', 'Bern'), resultOf('a', 'sun'), resultOf('a', 'rain')];
    const sent = await continueWith(output, input);
    const called = ['function_call', 'function_call'];
    expect(sent.map(({ type }) => type)).toEqual([...called, 'function_call_output', 'function_call_output']);
  });

  it('a call with other arguments and a text after the results stay', async () => {
    const input = [repeatedCall('a', 'Basel'), resultOf('a'), { role: 'assistant', content: 'answer 1' }];
    expect(await continueWith([outputItem(1), callOf('a', 'Bern')], input)).toHaveLength(5);
  });
});

describe('a reference to an item', () => {
  it('a reference becomes the output item of the continued response', async () => {
    const first = await gateway.create({ input: 'one' });
    const item = outputItem(numberOf(first.id));
    const reference = { type: 'item_reference', id: item.id };
    await gateway.create({ input: [reference, user('two')], previous_response_id: first.id });
    expect((await lastSent()).slice(2)).toEqual([item, user('two')]);
  });

  it('a reference becomes the item of any stored response', async () => {
    const first = await gateway.create({ input: 'one' });
    const item = outputItem(numberOf(first.id));
    await gateway.create({ input: [user('one'), { id: item.id }, user('two')] });
    expect(await lastSent()).toEqual([user('one'), item, user('two')]);
  });

  it('a reference to an item of another account is refused', async () => {
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

  it('an unknown id cannot be continued', async () => {
    expect(await refused({ input: 'two', previous_response_id: 'resp_never' })).toMatchObject(notFound);
  });

  it.each([false, true])('an answer with store false cannot be continued, with stream: %s', async (stream) => {
    const { id } = await gateway.create({ input: 'one', store: false, stream });
    expect(await refused({ input: 'two', previous_response_id: id })).toMatchObject(notFound);
  });

  it('the answer of another account cannot be continued', async () => {
    const { id } = await gateway.create({ input: 'one' });
    expect(await refused({ input: 'two', previous_response_id: id }, await gateway.otherKey())).toMatchObject(notFound);
  });

  it('an expired answer cannot be continued', async () => {
    const { id } = await gateway.create({ input: 'one' });
    await gateway.database.query('UPDATE response_store SET expires_at = now() WHERE id = ?', [id]);
    expect(await refused({ input: 'two', previous_response_id: id })).toMatchObject(notFound);
  });

  it('a deleted answer cannot be continued', async () => {
    const { id } = await gateway.create({ input: 'one' });
    await gateway.call('DELETE', `/v1/responses/${id}`);
    expect(await refused({ input: 'two', previous_response_id: id })).toMatchObject(notFound);
  });

  it('a conversation id cannot be continued', async () => {
    const { status, param, code } = await refused({ input: 'two', conversation: 'conv_1' });
    expect([status, param, code]).toEqual([400, 'conversation', 'not_supported']);
  });

  it('an id that is not a string cannot be continued', async () => {
    const { status, param, message } = await refused({ input: 'two', previous_response_id: 7 });
    expect([status, param, message]).toEqual([400, 'previous_response_id', expect.stringContaining('a string')]);
  });
});

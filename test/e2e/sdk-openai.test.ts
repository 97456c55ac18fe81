import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeatedResults, toolCalls, upstreamKey } from '../support/aimock.ts';
import { type SdkGateway, startSdkGateway } from '../support/sdk-gateway.ts';
import { chatTools, comparable, responsesTools, runResponsesCalls, surfaces } from '../support/sdk-surfaces.ts';

const greeting = 'Hello from the mock: ☀ ß 🙂.';

let gateway: SdkGateway;
let openai: OpenAI;
beforeAll(async () => {
  gateway = await startSdkGateway();
  ({ openai } = gateway);
});
afterAll(() => gateway[Symbol.asyncDispose]());

function says(content: string) {
  return [{ role: 'user' as const, content }];
}

/** The error that a call ends with. */
async function refusal(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error,
  );
}

describe('the OpenAI SDK, chat.completions,', () => {
  const model = 'on-chat';

  it('gets a whole answer', async () => {
    const { choices, usage } = await openai.chat.completions.create({ model, messages: says('hello') });
    expect(choices).toMatchObject([{ message: { content: greeting }, finish_reason: 'stop' }]);
    expect(usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 });
    expect(gateway.mock.lastRequest()?.body).toMatchObject({ model: 'model-there' });
  });

  it('gets chunks up to usage', async () => {
    const stream = await openai.chat.completions.create({
      model,
      messages: says('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(greeting);
    expect(chunks.filter(({ choices }) => (choices[0]?.delta.content ?? '') !== '').length).toBeGreaterThan(2);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 8 });
  });

  it('gets parallel calls as chunks that its helper accumulates', async () => {
    const body = { model, messages: says('weather'), tools: chatTools };
    const { choices } = await openai.chat.completions.stream(body).finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(choices[0]?.message.tool_calls).toMatchObject(
      toolCalls.map(({ id, name, arguments: input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input },
      })),
    );
  });

  it('gets an answer to tool results', async () => {
    expect(await surfaces.chat.converse(gateway, model)).toBe(repeatedResults);
  });
});

describe('the OpenAI SDK, responses,', () => {
  const model = 'on-responses';

  it('gets a whole answer', async () => {
    const response = await openai.responses.create({ model, input: 'hello' });
    expect(response).toMatchObject({ status: 'completed', output_text: greeting });
    expect(response.usage).toMatchObject({ input_tokens: 21, output_tokens: 8, total_tokens: 29 });
  });

  it('gets events with gapless numbers up to response.completed', async () => {
    const events = await Array.fromAsync(await openai.responses.create({ model, input: 'hello', stream: true }));
    expect(events[0]?.type).toBe('response.created');
    expect(events.at(-1)?.type).toBe('response.completed');
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(greeting);
  });

  it('gets events that its helper accumulates into the whole answer', async () => {
    const body = { model, input: 'weather', tools: responsesTools };
    const final = await openai.responses.stream(body).finalResponse();
    const calls = toolCalls.map(({ id, name, arguments: input }) => ({ call_id: id, name, arguments: input }));
    expect(final.output.filter(({ type }) => type === 'function_call')).toMatchObject(calls);
    expect(comparable(final)).toEqual(comparable(await openai.responses.create(body)));
  });

  it.each(['on-responses', 'on-chat', 'on-messages', 'on-gemini'])('continues a previous response: %s', async (on) => {
    const first = await openai.responses.create({ model: on, input: 'repeat this' });
    expect(first.output_text).toBe('user: repeat this');
    const second = await openai.responses.create({ model: on, input: 'repeat all', previous_response_id: first.id });
    expect(second.output_text).toBe('user: repeat this | assistant: user: repeat this | user: repeat all');
    expect(await openai.responses.retrieve(second.id)).toMatchObject({ previous_response_id: first.id });
  });

  it('returns tool results for the calls of a previous response', async () => {
    const first = await openai.responses.create({ model, input: 'weather', tools: responsesTools });
    const second = await openai.responses.create({
      model,
      input: runResponsesCalls(first.output),
      previous_response_id: first.id,
      tools: responsesTools,
    });
    expect(second.output_text).toBe(repeatedResults);
  });

  it('retrieves a stored response and deletes it', async () => {
    const { id } = await openai.responses.create({ model, input: 'hello' });
    expect((await openai.responses.retrieve(id)).output_text).toBe(greeting);
    await openai.responses.delete(id);
    expect(await refusal(openai.responses.retrieve(id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('gets an error for an unknown previous response', async () => {
    const error = await refusal(
      openai.responses.create({ model, input: 'hello', previous_response_id: 'resp_01a1fdfe78f9729aad2d5c515e0b3e88' }),
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'previous_response_not_found', param: 'previous_response_id' });
  });
});

describe('the OpenAI SDK, errors of the gateway,', () => {
  it('throws AuthenticationError for an unknown key', async () => {
    const stranger = new OpenAI({ apiKey: 'dp-unknown', baseURL: `${gateway.gateway.url}/v1`, maxRetries: 0 });
    const error = await refusal(stranger.chat.completions.create({ model: 'on-chat', messages: says('hello') }));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('throws NotFoundError for an unknown model', async () => {
    const error = await refusal(openai.chat.completions.create({ model: 'nowhere', messages: says('hello') }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  it('throws BadRequestError with the invalid parameter', async () => {
    const body = { model: 'on-chat', messages: 'hello' } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const error = await refusal(openai.chat.completions.create(body));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'messages' });
  });
});

describe('the OpenAI SDK, errors of an upstream,', () => {
  it.each([false, true])('throws BadRequestError with message and parameter, streamed: %s', async (stream) => {
    const error = await refusal(
      openai.chat.completions.create({ model: 'on-chat', messages: says('fail with 400'), stream }),
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ param: 'messages[0].content', message: '400 the mock says 400' });
  });

  it('throws RateLimitError with Retry-After', async () => {
    const error = await refusal(
      openai.chat.completions.create({ model: 'throttled', messages: says('fail with 429') }),
    );
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(Number((error as InstanceType<typeof OpenAI.RateLimitError>).headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('does not get the upstream’s 401 as an authentication error', async () => {
    const error = await refusal(openai.chat.completions.create({ model: 'refused', messages: says('fail with 401') }));
    expect(error).toMatchObject({ status: 424, code: 'upstream_account_rejected' });
    expect(JSON.stringify(error)).not.toContain(upstreamKey);
  });

  it('does not repeat a request for which the upstream’s key was refused', async () => {
    let calls = 0;
    const counting: typeof fetch = (...request) => (calls++, fetch(...request));
    const patient = openai.withOptions({ maxRetries: 3, fetch: counting });
    const chat = patient.chat.completions.create({ model: 'refused', messages: says('fail with 401') });
    expect(((await refusal(chat)) as Error).message).toContain('Contact the operator of this service.');
    const response = patient.responses.create({ model: 'refused', input: 'fail with 401' });
    expect(await refusal(response)).toMatchObject({ status: 400, code: 'upstream_account_rejected' });
    expect(calls).toBe(2);
  });

  it('throws InternalServerError for a 500', async () => {
    const error = await refusal(openai.responses.create({ model: 'broken', input: 'fail with 500' }));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
  });
});

it('the OpenAI SDK generates images', async () => {
  const { data } = await openai.images.generate({ model: 'painter', prompt: 'a lighthouse' });
  expect(data).toMatchObject([{ b64_json: 'aGVsbG8=' }]);
});

it('the OpenAI SDK lists and retrieves models by their public names', async () => {
  const models = await Array.fromAsync(await openai.models.list());
  expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining(['dp/on-chat', 'dp/vendor/with-slash']));
  const id = 'dp/vendor/with-slash';
  expect(await openai.models.retrieve(id)).toMatchObject({ id, object: 'model' });
  const { choices } = await openai.chat.completions.create({ model: id, messages: says('hello') });
  expect(choices[0]?.message.content).toBe(greeting);
  expect(await refusal(openai.models.retrieve('no/such'))).toBeInstanceOf(OpenAI.NotFoundError);
});

it('GET /v1/key reports the state of its account', async () => {
  const key = await openai.get<Record<string, unknown>>('/key');
  expect(key).toMatchObject({
    remaining_balance: { unit: 'second' },
    active_period: { active: true },
    rate_limit: { limit: 100_000, period: 1 },
    plan: 'test',
  });
  expect(JSON.stringify(key)).not.toContain(gateway.gateway.key);
});

import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-sdk-0';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeatedResults, toolCalls, upstreamKey } from '../support/aimock.ts';
import { type SdkGateway, startSdkGateway } from '../support/sdk-gateway.ts';
import { comparable, messagesSurface, messagesTools } from '../support/sdk-surfaces.ts';

/** Majors in use. The calls here exist in both. */
const majors = [
  ['1', Anthropic],
  ['0', Anthropic0 as unknown as typeof Anthropic],
] as const;

let gateway: SdkGateway;
beforeAll(async () => {
  gateway = await startSdkGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

function asking(text: string, model = 'on-messages') {
  return { model, max_tokens: 100, messages: [{ role: 'user' as const, content: text }] };
}

/** The error that a call ends with. */
async function refusal(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error,
  );
}

describe.each(majors)('@anthropic-ai/sdk, major %s', (_, Sdk) => {
  let client: Anthropic;
  beforeAll(() => {
    client = gateway.anthropic(Sdk);
  });

  it('gets a whole answer', async () => {
    const message = await client.messages.create(asking('hello'));
    expect(message).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'Hello from the mock: ☀ ß 🙂.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 21, output_tokens: 8 },
    });
  });

  it('gets events from message_start to message_stop', async () => {
    const events = await Array.fromAsync(await client.messages.create({ ...asking('hello'), stream: true }));
    expect(events[0]?.type).toBe('message_start');
    expect(events.at(-1)?.type).toBe('message_stop');
    const texts = events.map((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '',
    );
    expect(texts.join('')).toBe('Hello from the mock: ☀ ß 🙂.');
  });

  it('gets parallel calls and thinking as events that its helper accumulates into the whole answer', async () => {
    for (const text of ['weather', 'think', 'say first']) {
      const body = { ...asking(text), tools: messagesTools };
      const whole = await client.messages.create(body);
      expect(comparable(await client.messages.stream(body).finalMessage())).toEqual(comparable(whole));
      if (text !== 'weather') continue;
      expect(whole.stop_reason).toBe('tool_use');
      expect(whole.content).toMatchObject(
        toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input: JSON.parse(input) })),
      );
    }
  });

  it('gets an answer to tool results', async () => {
    expect(await messagesSurface(Sdk).converse(gateway, 'on-messages')).toBe(repeatedResults);
  });

  it('gets token counts, even from an upstream that does not count', async () => {
    const { max_tokens: _max, ...short } = asking('hello');
    const { max_tokens: _most, ...long } = asking('hello '.repeat(200));
    for (const model of ['on-messages', 'on-chat']) {
      const few = await client.messages.countTokens({ ...short, model });
      const many = await client.messages.countTokens({ ...long, model });
      expect(few.input_tokens).toBeGreaterThan(0);
      expect(many.input_tokens).toBeGreaterThan(few.input_tokens + 100);
    }
  });

  it('throws AuthenticationError for an unknown key', async () => {
    const stranger = new Sdk({ apiKey: 'dp-unknown', baseURL: gateway.gateway.url, maxRetries: 0 });
    const error = await refusal(stranger.messages.create(asking('hello')));
    expect(error).toBeInstanceOf(Sdk.AuthenticationError);
    expect(error).toMatchObject({ status: 401, error: { type: 'error', error: { type: 'authentication_error' } } });
  });

  it('does not repeat a request with an unknown key, and gets no wording that Claude Code takes for a failed login', async () => {
    const answers: Response[] = [];
    const stranger = new Sdk({
      apiKey: 'dp-unknown',
      baseURL: gateway.gateway.url,
      maxRetries: 5,
      fetch: async (...request: Parameters<typeof fetch>) => {
        const answer = await fetch(...request);
        answers.push(answer);
        return answer;
      },
    });
    const error = await refusal(stranger.messages.create(asking('hello')));
    expect((error as Error).message).not.toMatch(/x-api-key/i);
    expect(answers.map(({ headers }) => headers.get('x-should-retry'))).toEqual(['false']);
  });

  it('throws NotFoundError for an unknown model', async () => {
    const error = await refusal(client.messages.create(asking('hello', 'nowhere')));
    expect(error).toBeInstanceOf(Sdk.NotFoundError);
    expect(error).toMatchObject({ error: { error: { type: 'not_found_error' } } });
  });

  it('throws BadRequestError with the upstream’s message', async () => {
    for (const model of ['on-messages', 'on-chat']) {
      const error = await refusal(client.messages.stream(asking('fail with 400', model)).finalMessage());
      expect(error).toBeInstanceOf(Sdk.BadRequestError);
      expect(error).toMatchObject({
        error: { error: { type: 'invalid_request_error', message: 'the mock says 400' } },
      });
    }
  });

  it('throws BadRequestError with the invalid parameter', async () => {
    const body = { ...asking('hello'), max_tokens: 'many' } as unknown as Anthropic.MessageCreateParamsNonStreaming;
    const error = await refusal(client.messages.create(body));
    expect(error).toBeInstanceOf(Sdk.BadRequestError);
    expect((error as Error).message).toContain('max_tokens');
  });

  it('throws RateLimitError with Retry-After', async () => {
    const error = await refusal(client.messages.create(asking('fail with 429', 'throttled')));
    expect(error).toBeInstanceOf(Sdk.RateLimitError);
    expect(Number((error as InstanceType<typeof Sdk.RateLimitError>).headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('does not get the upstream’s 401 as an authentication error', async () => {
    const error = await refusal(client.messages.create(asking('fail with 401', 'refused')));
    expect(error).toMatchObject({ status: 424, error: { type: 'error', error: { type: 'api_error' } } });
    expect(JSON.stringify(error)).not.toContain(upstreamKey);
  });

  it('does not repeat a request for which the upstream’s key was refused', async () => {
    let calls = 0;
    const counting: typeof fetch = (...request) => (calls++, fetch(...request));
    const patient = client.withOptions({ maxRetries: 3, fetch: counting });
    const error = await refusal(patient.messages.create(asking('fail with 401', 'refused')));
    expect((error as Error).message).toContain('Contact the operator of this service.');
    expect(calls).toBe(1);
  });

  it('lists and retrieves models by their public names', async () => {
    const models = await Array.fromAsync(client.models.list());
    expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining(['dp/on-messages', 'dp/vendor/with-slash']));
    expect(await client.models.retrieve('dp/vendor/with-slash')).toMatchObject({
      id: 'dp/vendor/with-slash',
      type: 'model',
      display_name: expect.any(String) as string,
    });
    expect(await refusal(client.models.retrieve('no/such'))).toBeInstanceOf(Sdk.NotFoundError);
  });
});

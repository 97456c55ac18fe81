import OpenAI from 'openai';
import { request as undici } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { findResponse } from '../../../../../plugins/format/state/responses-store/find-response.ts';
import { parseEvents, readResponse } from '../../../../../plugins/format/state/responses-store/response-events.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../../support/faulty-upstream.ts';
import { answerText, eventsBefore, responseBody, startStore, type StoreGateway } from './fixture.ts';

type Streamed = OpenAI.Responses.ResponseStreamEvent;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

interface Setting {
  readonly gateway: StoreGateway;
  readonly upstream: FaultyUpstream;
  readonly client: OpenAI;
  /** Lets the upstream finish its answer. */
  readonly finish: () => void;
}

/** An upstream that waits behind its first events, or before its answer, until the test lets it go on. */
async function setting(script?: Handler, options: Parameters<typeof startStore>[1] = {}): Promise<Setting> {
  const gate = Promise.withResolvers<void>();
  const upstream = await createUpstream(
    script ??
      (async (_request, response) => {
        const events = eventsBefore(1);
        response.sse(...events.slice(0, 4));
        await gate.promise;
        for (const event of events.slice(4)) await response.event(event);
        await response.event({ type: 'response.completed', sequence_number: 5, response: responseBody(1) });
        response.end();
      }),
  );
  opened.push(upstream);
  const gateway = await startStore(upstream, options);
  opened.push(gateway);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  return { gateway, upstream, client, finish: () => gate.resolve() };
}

const asks = { model: 'test', input: 'Think long.', background: true } as const;

/** The response once it has ended. */
async function ended(client: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A choice of a Chat chunk. */
const says = (text: string) => ({ index: 0, delta: { content: text }, finish_reason: null });

/** A Chat upstream that answers at once. */
const saysDone: Handler = (_request, response) =>
  response.sse({ choices: [says('Done.')] }, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, '[DONE]');

/** Takes events until one of this type. */
async function takeUntil(stream: AsyncIterable<Streamed>, type: Streamed['type']): Promise<Streamed[]> {
  const events: Streamed[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === type) break;
  }
  return events;
}

const readers = new WeakMap<Response, ReadableStreamDefaultReader<Uint8Array>>();

/** Reads a stream up to an event that has this text, or what it still has until it ends or breaks. */
async function takeText(response: Response, upTo?: string): Promise<string> {
  const reader = readers.get(response) ?? response.body!.getReader();
  readers.set(response, reader);
  let text = '';
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
    text += Buffer.from(value ?? []).toString();
    if (done || (upTo !== undefined && text.includes(upTo))) return text;
  }
}

describe('a background response', () => {
  it('is answered at once, runs without its client, and is fetched when it has ended', async () => {
    const { client, upstream, finish } = await setting();
    const queued = await client.responses.create(asks);
    expect(queued).toMatchObject({ status: 'queued', background: true, store: true, output: [] });
    const sent = (await upstream.waitForRequest(1)).json();
    expect(sent).toMatchObject({ stream: true, input: 'Think long.' });
    expect(sent).not.toHaveProperty('background');
    finish();
    const response = await ended(client, queued.id);
    expect(response).toMatchObject({
      id: queued.id,
      status: 'completed',
      background: true,
      output_text: answerText(1),
    });
    expect(
      await client.responses.create({ model: 'test', input: 'On.', previous_response_id: queued.id }),
    ).toBeDefined();
    const [, next] = await Promise.all([null, upstream.waitForRequest(2)]);
    expect(JSON.stringify(next.json())).toContain(answerText(1));
  });

  it('sends no options of the vendor’s own background jobs, and has their note in the header of its create', async () => {
    const { gateway, client, upstream, finish } = await setting();
    const options = { completion_window: '8h' } as const;
    const { data, response } = await client.responses.create({ ...asks, background_options: options }).withResponse();
    expect(response.headers.get('x-daypass-notes')).toBe('dropped background_options');
    const sent = (await upstream.waitForRequest(1)).json();
    expect(sent).not.toHaveProperty('background_options');
    finish();
    expect(await ended(client, data.id)).toMatchObject({ status: 'completed' });
    const sql = `SELECT notes FROM request_log WHERE endpoint = 'responses'`;
    const recorded = async () => JSON.stringify(await gateway.database.query<Record<string, unknown>>(sql));
    await expect.poll(recorded, { timeout: 10_000 }).toContain('dropped background_options');
  });

  it.each([false, true])(
    'has the notes of its translation in the header of its create, streamed: %j',
    async (stream) => {
      const { gateway } = await setting(saysDone, { formats: '[chat]' });
      const asked = { ...asks, stream, max_tool_calls: 1, truncation: 'auto' };
      const reply = await gateway.call('POST', '/v1/responses', asked);
      expect(reply.headers.get('x-daypass-notes')).toBe('dropped max_tool_calls; dropped truncation');
      await reply.text();
    },
  );

  it('has one record, of all that it took', async () => {
    const { client, gateway, finish } = await setting();
    const { id } = await client.responses.create(asks);
    finish();
    await ended(client, id);
    const sql = `SELECT outcome, status, output_tokens, model FROM request_log WHERE endpoint = 'responses'`;
    const recorded = async () => gateway.database.query<Record<string, unknown>>(sql);
    await expect
      .poll(recorded, { timeout: 10_000 })
      .toMatchObject([{ outcome: 'answered', status: 200, output_tokens: 2 }]);
  });

  it('resumes a stream that broke, without gaps or repetitions', async () => {
    const { client, finish } = await setting();
    const stream = await client.responses.create({ ...asks, stream: true });
    const first = await takeUntil(stream, 'response.output_text.delta');
    stream.controller.abort();
    const [created] = first as [Extract<Streamed, { type: 'response.created' }>];
    const { id } = created.response;
    const last = first.at(-1)?.sequence_number ?? 0;
    const resumed = await client.responses.retrieve(id, { stream: true, starting_after: last });
    finish();
    const rest = await Array.fromAsync(resumed);
    const numbers = [...first, ...rest].map(({ sequence_number: number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } });
    const again = await Array.fromAsync(await client.responses.retrieve(id, { stream: true }));
    expect(again).toEqual([...first, ...rest]);
  });

  it('is streamed to openai-go, which asks for that in the body of a GET', async () => {
    const { client, gateway, finish } = await setting();
    const { id } = await client.responses.create(asks);
    finish();
    await ended(client, id);
    const answer = await undici(`${gateway.url}/v1/responses/${id}`, {
      method: 'GET',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: '{"stream":true}',
    });
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(await answer.body.text()).toContain('event: response.completed');
  });

  it('is cancelled, at its upstream too, and stays cancelled', async () => {
    const { client, upstream } = await setting();
    const { id } = await client.responses.create(asks);
    await upstream.waitForRequest(1);
    const reading = client.responses.retrieve(id, { stream: true }).then((stream) => Array.fromAsync(stream));
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await upstream.waitForClose(1)).toBe('client left');
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    expect((await reading).at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
  });

  it('that is deleted ends at its upstream', async () => {
    const { client, upstream } = await setting();
    const { id } = await client.responses.create(asks);
    await upstream.waitForRequest(1);
    await client.responses.delete(id);
    expect(await upstream.waitForClose(1)).toBe('client left');
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it.each(['its create', 'a resumed one'])(
    'that is deleted ends the stream of %s with an error that keeps the count',
    async (of) => {
      const { client, gateway } = await setting();
      const stream = await gateway.call('POST', '/v1/responses', { ...asks, stream: true });
      const created = await takeText(stream, 'output_text.delta');
      const [first] = parseEvents(created);
      const id = String(readResponse(first!)?.['id']);
      const resumed = of === 'its create' ? undefined : await gateway.call('GET', `/v1/responses/${id}?stream=true`);
      if (resumed !== undefined) expect(await takeText(resumed, 'output_text.delta')).toBe(created);
      await client.responses.delete(id);
      const rest = parseEvents(await takeText(resumed ?? stream));
      expect(rest.map(({ type, sequence }) => [type, sequence])).toEqual([
        ['error', parseEvents(created).at(-1)?.sequence],
      ]);
      expect(rest[0]?.text).toContain(`Response with id '${id}' not found.`);
    },
  );

  it('of an account that is deleted ends at its upstream', async () => {
    const { client, upstream, gateway } = await setting();
    await client.responses.create(asks);
    await upstream.waitForRequest(1);
    await gateway.database.query('DELETE FROM response_store');
    expect(await upstream.waitForClose(1)).toBe('client left');
  });

  it('fails with the sentence of the error when every route fails', async () => {
    const { client } = await setting((_request, response) =>
      response.json(400, { error: { message: 'No such voice.', type: 'invalid_request_error' } }),
    );
    const { id } = await client.responses.create(asks);
    const failed = await ended(client, id);
    expect(failed).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('No such voice.') } });
    const stream = await client.responses.retrieve(id, { stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow('No such voice.');
    const next = client.responses.create({ model: 'test', input: 'On.', previous_response_id: id });
    await expect(next).rejects.toMatchObject({ code: 'previous_response_not_found' });
  });

  it('fails where its stream breaks off, with what it has said so far', async () => {
    const { client } = await setting(async (_request, response) => {
      response.sse(...eventsBefore(1));
      await response.passedOn();
      response.cut();
    });
    const { id } = await client.responses.create(asks);
    const failed = await ended(client, id);
    expect(failed).toMatchObject({ status: 'failed', output: [{ content: [{ text: answerText(1) }] }] });
    expect(failed.error?.message).toContain('Connection error');
  });

  it('whose instance has died fails with a sentence, for readers of its stream too', async () => {
    const { client, gateway, upstream } = await setting();
    const { id } = await client.responses.create(asks);
    await upstream.waitForRequest(1);
    const reading = fetch(`${gateway.url}/v1/responses/${id}?stream=true`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    }).then((answer) => answer.text());
    // The instance lives, and renews its lease every few seconds.
    const readAbandoned = async () => {
      await gateway.database.query(`UPDATE response_store SET running_until = now() - interval '1 second'`);
      return client.responses.retrieve(id);
    };
    await expect
      .poll(readAbandoned)
      .toMatchObject({ status: 'failed', error: { message: expect.stringContaining('has stopped') } });
    const events = parseEvents(await reading);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index));
    const stream = await client.responses.retrieve(id, { stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow('has stopped');
  });

  it('is not given up by an instance whose clock is ahead', async () => {
    const { client, gateway, upstream } = await setting();
    const { id } = await client.responses.create(asks);
    await upstream.waitForRequest(1);
    const { host } = gateway.gateway;
    const hostAhead = Object.create(host, { now: { value: () => host.now() + 3_600_000 } }) as typeof host;
    expect(await findResponse(hostAhead, { accountId: gateway.accountId, id })).toMatchObject({ isRunning: true });
  });

  it.each(['[chat]', '[messages]', '[gemini]'])('runs on a route of another format: %s', async (formats) => {
    const { client } = await setting(
      (_request, response) => {
        if (formats === '[chat]') {
          response.sse(
            { id: 'c', choices: [says('Hel')] },
            { id: 'c', choices: [{ ...says('lo'), finish_reason: 'stop' }] },
            '[DONE]',
          );
        } else if (formats === '[messages]') {
          response.sse();
          for (const event of [
            { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
            { type: 'content_block_stop', index: 0 },
            { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
            { type: 'message_stop' },
          ]) {
            void response.event(event, event.type);
          }
        } else response.sse({ candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] });
        response.end();
      },
      { formats },
    );
    const stream = await client.responses.create({ ...asks, stream: true });
    const events = await Array.fromAsync(stream);
    const completed = events.at(-1) as Extract<Streamed, { type: 'response.completed' }>;
    expect(completed).toMatchObject({ type: 'response.completed', response: { background: true } });
    expect(await ended(client, completed.response.id)).toMatchObject({ status: 'completed', output_text: 'Hello' });
  });

  it('is refused where nothing may be stored', async () => {
    const { client } = await setting();
    await expect(client.responses.create({ ...asks, store: false })).rejects.toMatchObject({ param: 'store' });
    const { client: other } = await setting(undefined, { yaml: 'responses: { keep_hours: 0 }' });
    await expect(other.responses.create(asks)).rejects.toMatchObject({ code: 'not_supported', param: 'background' });
  });

  it('is refused like any other when its model is unknown', async () => {
    const { client } = await setting();
    await expect(client.responses.create({ ...asks, model: 'none' })).rejects.toMatchObject({ status: 400 });
  });

  it('cannot be continued before it has ended', async () => {
    const { client, upstream } = await setting();
    const { id } = await client.responses.create(asks);
    await upstream.waitForRequest(1);
    const next = client.responses.create({ model: 'test', input: 'On.', previous_response_id: id });
    await expect(next).rejects.toMatchObject({ code: 'previous_response_not_found' });
  });
});

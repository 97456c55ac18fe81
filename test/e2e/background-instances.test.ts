import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerText, eventsBefore } from '../plugins/format/state/responses-store/fixture.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { answerInAnyFormat } from '../support/five-formats.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';
import { redisUrl } from '../support/redis.ts';
import { SocketClient } from '../support/socket-client.ts';

const environment = { REDIS_URL: redisUrl ?? '' };

type Streamed = OpenAI.Responses.ResponseStreamEvent;

let upstream: FaultyUpstream;
let home: GatewayHome;
let runner: GatewayProcess;
let other: GatewayProcess;

const clientOf = ({ url }: GatewayProcess) => new OpenAI({ baseURL: `${url}/v1`, apiKey: home.key, maxRetries: 0 });

const begin = () => clientOf(runner).responses.create({ model: 'test', input: 'Think long.', background: true });

/** The stream from the instance that does not run it, up to its text; then the rest of it. */
async function follow(id: string): Promise<{ text: string; rest: Promise<Streamed[]> }> {
  const stream = await clientOf(other).responses.retrieve(id, { stream: true });
  const events = stream[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error('the stream has ended');
    if (value.type !== 'response.output_text.delta') continue;
    return { text: value.delta, rest: Array.fromAsync({ [Symbol.asyncIterator]: () => events }) };
  }
}

describe.skipIf(redisUrl === undefined)('a stored response on two instances', { shuffle: false }, () => {
  beforeAll(async () => {
    // It begins an answer, and never ends it, unless it is asked shortly.
    upstream = await createUpstream((request, response) =>
      request.body.includes('Think long.')
        ? response.sse(...eventsBefore(1).slice(0, 4))
        : answerInAnyFormat(request, response),
    );
    home = await createGatewayHome(yamlFor(`${upstream.url}/v1`, '[responses]'));
    [runner, other] = await Promise.all([home.start(environment), home.start(environment)]);
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it('that runs in the background is streamed and cancelled by the one that does not run it', async () => {
    const { id } = await begin();
    const { text, rest } = await follow(id);
    expect(text).toBe(answerText(1));
    const count = upstream.requests.length;
    expect(await clientOf(other).responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await upstream.waitForClose(count)).toBe('client left');
    expect((await rest).at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
    expect(await clientOf(runner).responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
  });

  it('that runs in the background fails with a sentence on the other when its instance is killed, and in streams of it', async () => {
    const { id } = await begin();
    const { rest } = await follow(id);
    const ended = rest.catch((error: Error) => error.message);
    expect(await runner.end('SIGKILL')).toBe('SIGKILL');
    expect(await clientOf(other).responses.retrieve(id)).toMatchObject({ status: 'in_progress' });
    // Instead of waiting for the lease to end.
    await home.database.query(`UPDATE response_store SET running_until = now() WHERE id = ?`, [id]);
    expect(await ended).toContain('has stopped');
    const failed = await clientOf(other).responses.retrieve(id);
    expect(failed).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('has stopped') } });
    const numbers: number[] = [];
    const again = await clientOf(other).responses.retrieve(id, { stream: true });
    await expect(
      (async () => {
        for await (const { sequence_number: number } of again) numbers.push(number);
      })(),
    ).rejects.toThrow('has stopped');
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(numbers).not.toEqual([]);
  });

  it('is continued on a WebSocket of the other when its instance stops', async () => {
    runner = await home.start(environment);
    const headers = { authorization: `Bearer ${home.key}` };
    using before = await SocketClient.open(other.url, headers);
    const first = await before.ask({ model: 'test', input: 'one' });
    const stopped = other.end('SIGTERM');
    expect(await before.closed).toBe(1012);
    expect(await stopped).toBe(0);
    using after = await SocketClient.open(runner.url, headers);
    const next = { model: 'test', store: false };
    const second = await after.ask({ ...next, input: 'two', previous_response_id: first.response?.id });
    expect(second).toMatchObject({
      type: 'response.completed',
      response: { previous_response_id: first.response?.id },
    });
    await after.ask({ ...next, input: 'three', previous_response_id: second.response?.id });
    expect(String(upstream.requests.at(-1)?.body)).toMatch(/one.*one two.*two.*one two.*three/);
  });
});
